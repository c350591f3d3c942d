"""Server-side apply, and the record of who manages which field.

Stands for the field manager of kube-apiserver and `merge.Updater` of structured-merge-diff. Laws: a field that an
apply changes must be nobody else's, unless forced; a field goes with the last applier that drops it; a write that
changes nothing leaves managedFields as they are.
"""

from dataclasses import replace
from functools import reduce
from typing import Any

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.changes import comparison, fieldsets, managers, merging, shapes
from gpuyard_cluster.apiserver.changes.fieldsets import Fields
from gpuyard_cluster.apiserver.changes.managers import APPLY, UPDATE, Entry, Manager
from gpuyard_cluster.apiserver.changes.shapes import Shape
from gpuyard_cluster.apiserver.errors import ApiError, bad_request
from gpuyard_cluster.apiserver.kinds import kinds

_BEFORE_FIRST_APPLY = "before-first-apply"
"""Who owned the fields of an object that nobody had applied before."""
_ALWAYS_KEPT: Fields = {"f:metadata": {"f:name": {}}}


def apply(
    live: JSON | None,
    config: JSON,
    manager: str,
    force: bool,
    *,
    now: str,
    subresource: str = "",
    schema: JSON | None = None,
) -> JSON:
    """The object after `manager` applied `config`, with managedFields, sharing nothing with the arguments.

    `now` is RFC 3339; `schema` is the openAPIV3Schema of a custom resource. Raises ApiError: 400 for a configuration
    that cannot be applied, 409 for fields of other managers. Parts that the path does not write must be taken out of
    `config` before, such as `status` where it has a subresource.
    """
    _check(config)
    shape = shape_of(config, schema)
    if fault := merging.faulty_list(config, shape):
        raise ApiError(
            500,
            "",
            f"failed to create typed patch object: {fault}: an item lacks a key field or repeats a key",
        )
    applier = Manager(manager, APPLY, config["apiVersion"], subresource)
    claimed = Entry(applier, comparison.of_object(config, shape), now)
    if live is None:
        created = merging.copied(config)
        kinds.decode(created)
        return _with_managers(created, [claimed])
    return _apply_to(live, config, claimed, force, shape)


def track(
    old: JSON | None, new: JSON, manager: str, *, now: str, subresource: str = "", schema: JSON | None = None
) -> JSON:
    """`new` with managedFields after a create (`old` is None) or an update by `manager`.

    A client may write managedFields itself; `[{}]` resets them. Where it writes none, those of `old` go on.
    """
    given = new["metadata"].get("managedFields")
    if given == [{}]:
        return _with_managers(new, [])
    stored = (old or {}).get("metadata", {}).get("managedFields")
    entries = managers.entries_of(given) if given and given != stored else managers.trusted(stored or [])
    change = comparison.compare(old or {}, new, shape_of(new, schema))
    if not change or (old is not None and not entries):  # what has no managers gets its first by an apply
        return _with_managers(new, entries)
    updater = Manager(manager, UPDATE, new["apiVersion"], subresource)
    before, others = _split(entries, updater)
    fields = fieldsets.union(fieldsets.difference(before.fields, change.removed), change.changed)
    left = managers.without(others, fieldsets.union(change.changed, change.removed))
    return _with_managers(new, [*left, Entry(updater, fields, now if change.changed else before.time)])


def shape_of(obj: JSON, schema: JSON | None) -> Shape:
    """How the fields of an object merge: by its kind, or by the schema of a custom resource."""
    if schema is not None:
        return shapes.of_schema(schema)
    builtin = shapes.of_kind(str(obj.get("apiVersion")), str(obj.get("kind")))
    return builtin or shapes.of_schema({"x-kubernetes-preserve-unknown-fields": True})


def _check(config: JSON) -> None:
    if not isinstance(config.get("apiVersion"), str) or not isinstance(config.get("kind"), str):
        raise bad_request("invalid object type: apiVersion and kind must be set in the applied configuration")
    if not isinstance(config.get("metadata"), dict):
        raise bad_request("invalid object: metadata must be set in the applied configuration")
    if "managedFields" in config["metadata"]:
        raise bad_request("metadata.managedFields must be nil")


def _apply_to(live: JSON, config: JSON, claimed: Entry, force: bool, shape: Shape) -> JSON:
    entries = managers.trusted(live["metadata"].get("managedFields") or [])
    if not entries:
        unknown = Manager(_BEFORE_FIRST_APPLY, UPDATE, live["apiVersion"])
        entries = [Entry(unknown, comparison.compare({}, live, shape).changed, claimed.time)]
    before, others = _split(entries, claimed.manager)
    kept = reduce(
        fieldsets.union, (entry.fields for entry in others), fieldsets.union(claimed.fields, _ALWAYS_KEPT)
    )
    merged = merging.copied(merging.merge(live, config, shape))
    merged = merging.remove(merged, fieldsets.abandoned(before.fields, kept), shape)
    kinds.decode(merged)
    change = comparison.compare(live, merged, shape)
    refusal = managers.conflict(others, change.changed)
    if refusal is not None and not force:
        raise refusal
    if not change and before.fields == claimed.fields:
        return _with_managers(merged, entries)
    left = managers.without(others, fieldsets.union(change.changed, change.removed))
    # An apply that changes nothing but who owns what is not dated.
    return _with_managers(merged, [*left, claimed if change else replace(claimed, time=before.time)])


def _split(entries: list[Entry], manager: Manager) -> tuple[Entry, list[Entry]]:
    """The entry of one manager, empty when it has none, and those of the others."""
    own = next((entry for entry in entries if entry.manager.identity == manager.identity), None)
    others = [entry for entry in entries if entry.manager.identity != manager.identity]
    return own or Entry(manager, {}, ""), others


def _with_managers(obj: JSON, entries: list[Entry]) -> JSON:
    metadata: dict[str, Any] = {
        key: value for key, value in obj["metadata"].items() if key != "managedFields"
    }
    if written := managers.documents(entries):
        metadata["managedFields"] = written
    return {**obj, "metadata": metadata}
