"""Changing an object: PUT and PATCH, of the object or of its status.

Stands for `registry.Store.Update` of kube-apiserver. Laws:
- A change that changes nothing is not written: the resourceVersion stays.
- The main path never changes the status, `/status` never changes anything else that matters.
- An object that is being deleted goes with its last finalizer; watchers see that as DELETED only.
"""

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.admission import admission
from gpuyard_cluster.apiserver.backend import Backend
from gpuyard_cluster.apiserver.changes import apply
from gpuyard_cluster.apiserver.custom import definitions
from gpuyard_cluster.apiserver.errors import Cause, invalid
from gpuyard_cluster.apiserver.kinds.resources import Resource
from gpuyard_cluster.apiserver.routing import Target
from gpuyard_cluster.apiserver.rules import metadata, validation
from gpuyard_cluster.apiserver.rules.names import validate_metadata_update
from gpuyard_cluster.apiserver.storage import commits, generations
from gpuyard_cluster.apiserver.storage.storage import Stored
from gpuyard_cluster.apiserver.wire.options import WriteOptions

_STATUS_METADATA = ("labels", "annotations", "finalizers", "managedFields")
"""What `/status` of a built-in kind may change besides the status."""


def update(backend: Backend, target: Target, obj: JSON, options: WriteOptions) -> Stored:
    """Replace the target's object by `obj`, decoded and defaulted; ApiError when it is refused."""
    stored = backend.read(target)
    old = backend.view(target).obj(stored)
    metadata.place(target, obj["metadata"])
    _check_version_given(target.resource, obj)
    metadata.check_version(target, old["metadata"], obj["metadata"])
    metadata.check_deletion(target, old["metadata"], obj["metadata"])
    metadata.keep(old["metadata"], obj["metadata"])
    attempt = admission.Attempt("UPDATE", target, old, options)
    obj = isolate(target, old, obj)
    scaled = target.subresource == "scale"  # it was admitted as a Scale
    if not scaled:
        obj = admission.mutate(backend, attempt, obj)
    if target.subresource != "status":
        generations.count(target.resource, old, obj)
    _validate(target, old, obj)
    if target.resource.kind == "CustomResourceDefinition" and not target.subresource:
        definitions.establish(obj, backend.timestamp())
    if not scaled:
        admission.validate(backend, attempt, obj)
    if not options.applied:
        obj = _track(backend, target, (old, obj), options)
    return commit(backend, target, stored, obj, options)


def _track(backend: Backend, target: Target, change: tuple[JSON, JSON], options: WriteOptions) -> JSON:
    """The new object with the managedFields that follow from the change."""
    old, new = change
    return apply.track(
        old,
        new,
        options.manager,
        now="" if target.subresource == "scale" else backend.timestamp(),  # as the real server: undated
        subresource=target.subresource,
        schema=target.resource.document,
    )


def commit(backend: Backend, target: Target, stored: Stored, obj: JSON, options: WriteOptions) -> Stored:
    """Write a finished change of `stored`, if it is one; remove the object if nothing holds it any longer."""
    kept = backend.view(target).storable(obj, backend.registry.storage_version(target.resource))
    if kept == stored.obj:
        return stored
    if released(obj):
        commits.remove(backend, target, dry_run=options.dry_run)
        return commits.unsaved(target, kept)
    return commits.put(backend, target, obj, dry_run=options.dry_run)


def released(obj: JSON) -> bool:
    """Whether an object is to be deleted and nothing holds it: no grace period, no finalizer."""
    meta = obj["metadata"]
    waiting = meta.get("deletionGracePeriodSeconds") or meta.get("finalizers")
    held = obj["kind"] == "Namespace" and obj.get("spec", {}).get("finalizers")
    return bool(meta.get("deletionTimestamp")) and not waiting and not held


def isolate(target: Target, old: JSON, new: JSON) -> JSON:
    """`new` without what its path may not change."""
    resource = target.resource
    if not resource.status_isolated:
        return new
    if target.subresource != "status":
        kept = _with(new, "status", old.get("status"))
        # What holds a namespace goes through /finalize only.
        return _with(kept, "spec", old.get("spec")) if resource.qualified == "namespaces" else kept
    names = ("managedFields",) if resource.custom else _STATUS_METADATA
    meta = {key: value for key, value in old["metadata"].items() if key not in names}
    meta |= {key: new["metadata"][key] for key in names if key in new["metadata"]}
    return _with({**old, "metadata": meta}, "status", new.get("status"))


def _with(obj: JSON, key: str, value: object) -> JSON:
    rest = {name: found for name, found in obj.items() if name != key}
    return rest if value is None else {**rest, key: value}


def _check_version_given(resource: Resource, obj: JSON) -> None:
    """Custom resources are only ever replaced in a version that the client has seen."""
    if resource.custom and not obj["metadata"].get("resourceVersion"):
        cause = Cause(
            "metadata.resourceVersion",
            "FieldValueInvalid",
            "Invalid value: 0x0: must be specified for an update",
        )
        raise invalid(resource.qualified, obj["metadata"]["name"], [cause])


def _validate(target: Target, old: JSON, new: JSON) -> None:
    resource = target.resource
    found = validate_metadata_update(resource.kind, old["metadata"], new["metadata"])
    if resource.schema is not None:
        found += resource.schema.validate(new, old)
    else:
        found += validation.validate_update(resource.kind, old, new, target.subresource)
    if found:
        raise invalid(resource.qualified_kind, target.name, found)
