"""The metadata that the server owns.

Stands for `rest.BeforeCreate` and `rest.BeforeUpdate` of kube-apiserver: what a client may not choose or change.
"""

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.backend import Backend, internal
from gpuyard_cluster.apiserver.errors import Cause, bad_request, conflict, invalid
from gpuyard_cluster.apiserver.routing import Target

_KEPT = ("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "selfLink")
"""What the server sets and no update changes; the uid is compared instead."""

_GENERATED_FROM = 58
"""How much of generateName is used: with its suffix a name is a DNS label (`names.SimpleNameGenerator`)."""


def strip(metadata: JSON) -> None:
    """Take from a new object what only the server sets, in place; a generation that nobody counts may stay."""
    for key in _KEPT:
        if key != "generation" or not metadata.get(key):
            metadata.pop(key, None)


def begin(backend: Backend, target: Target, obj: JSON, *, dry_run: bool) -> None:
    """Give a new object its identity, in place."""
    metadata = obj["metadata"]
    if metadata.get("resourceVersion") and not dry_run:
        raise internal("resourceVersion should not be set on objects to be created")
    if not metadata.get("name") and metadata.get("generateName"):
        metadata["name"] = f"{metadata['generateName'][:_GENERATED_FROM]}{backend.suffix()}"
    metadata["uid"] = backend.uid()
    metadata["creationTimestamp"] = backend.timestamp()
    place(target, metadata)


def require_name(metadata: JSON) -> None:
    """400 where a body leaves out which object it is: only its path says so."""
    if not metadata.get("name"):
        raise bad_request("name must be provided")


def place(target: Target, metadata: JSON) -> None:
    """Put an object into the namespace of its path, in place; 400 when it names another place or name."""
    given = metadata.get("namespace", "")
    if given and given != target.namespace:
        where = "the namespace of the provided object does not match the namespace sent on the request"
        raise bad_request(where)
    if target.namespace:
        metadata["namespace"] = target.namespace
    name = metadata.get("name", "")
    if target.name and name and name != target.name:
        raise bad_request(
            f"the name of the object ({name}) does not match the name on the URL ({target.name})"
        )
    if target.name:
        metadata["name"] = target.name


def check_deletion(target: Target, old: JSON, new: JSON) -> None:
    """422 for an update that says when its object is deleted: only a deletion does."""
    given = new.get("deletionTimestamp")
    if given and given != old.get("deletionTimestamp"):
        message = f"Invalid value: {given!r}: field is immutable; may only be changed via deletion"
        cause = Cause("metadata.deletionTimestamp", "FieldValueInvalid", message)
        raise invalid(target.resource.qualified_kind, target.name, [cause])


def keep(old: JSON, new: JSON) -> None:
    """Undo what an update may not change in the metadata of `new`, in place."""
    for key in _KEPT:
        if key in old:
            new[key] = old[key]
        else:
            new.pop(key, None)
    new.setdefault("uid", old["uid"])
    new["resourceVersion"] = old["resourceVersion"]


def check_version(target: Target, old: JSON, new: JSON) -> None:
    """409 when an update was made from another version of the object."""
    given = new.get("resourceVersion")
    if given and given != old["resourceVersion"]:
        why = "the object has been modified; please apply your changes to the latest version and try again"
        raise conflict(target.resource.qualified, target.name, why)


def check_uid(target: Target, old: JSON, uid: str | None) -> None:
    """409 when a write was meant for an earlier object of that name."""
    if uid and uid != old["uid"]:
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {old['uid']}"
        raise conflict(target.resource.qualified, target.name, why)


def check_preconditions(target: Target, old: JSON, preconditions: JSON) -> None:
    """409 unless the object has the uid and the resourceVersion that are asked for, where they are."""
    uid, kind = preconditions.get("uid"), target.resource.qualified_kind
    if uid and uid != old["uid"]:
        why = f"the UID in the precondition ({uid}) does not match the UID in record ({old['uid']})"
        raise conflict(kind, target.name, f"{why}. The object might have been deleted and then recreated")
    version = preconditions.get("resourceVersion")
    if version and version != old["resourceVersion"]:
        record = old["resourceVersion"]
        why = (
            f"the ResourceVersion in the precondition ({version}) does not match the one in record ({record})"
        )
        raise conflict(kind, target.name, f"{why}. The object might have been modified")
