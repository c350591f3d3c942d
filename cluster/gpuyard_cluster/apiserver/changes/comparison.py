"""Which fields an object has, and which differ between two objects.

Stands for `TypedValue.ToFieldSet` and `Compare` of structured-merge-diff. What server-side apply never owns
(type, name, uid and the like) is left out of every set.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.changes.fieldsets import SELF, Fields
from gpuyard_cluster.apiserver.changes.shapes import SCALAR, Shape

_UNOWNED = frozenset(
    (
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "generation",
        "managedFields",
        "resourceVersion",
    )
)


@dataclass(frozen=True, slots=True)
class Change:
    """The fields that were added or have another value, and those that are gone."""

    changed: Fields
    removed: Fields

    def __bool__(self) -> bool:
        return bool(self.changed or self.removed)


def of_object(obj: JSON, shape: Shape) -> Fields:
    """The fields that a server-side apply of `obj` claims."""
    return _claimed(_ownable(obj), shape) or {}


def compare(old: JSON, new: JSON, shape: Shape) -> Change:
    """What became of `old` in `new`."""
    changed, removed = _difference(_ownable(old), _ownable(new), shape)
    return Change(changed, removed)


def item_names(items: Sequence[Any], shape: Shape) -> list[str] | None:
    """The path element of each item of a granular list; None where an item has none, or two have the same (of a set
    the same item may come twice)."""
    names = [_item_name(item, shape) for item in items]
    if None in names or (not shape.unique and len(set(names)) < len(names)):
        return None
    return [name for name in names if name is not None]


def _ownable(obj: JSON) -> JSON:
    rest = {key: value for key, value in obj.items() if key not in ("apiVersion", "kind", "metadata")}
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict):
        return rest
    owned = {key: value for key, value in metadata.items() if key not in _UNOWNED}
    return {"metadata": owned, **rest} if owned else rest


def _item_name(item: Any, shape: Shape) -> str | None:
    if shape.unique:
        return "v:" + orjson.dumps(item).decode() if isinstance(item, str | int | float) else None
    if not isinstance(item, dict):
        return None
    found = {key: item.get(key, shape.key_defaults.get(key)) for key in sorted(shape.keys)}
    return None if None in found.values() else "k:" + orjson.dumps(found).decode()


def _parts(value: Any, shape: Shape) -> dict[str, tuple[Any, Shape]] | None:
    """The separately owned parts of a value by path element; None where it is owned as a whole."""
    if isinstance(value, dict) and shape.granular_object:
        return {f"f:{key}": (part, shape.child(key) or SCALAR) for key, part in value.items()}
    if isinstance(value, list) and shape.granular_list:
        names, items = item_names(value, shape), shape.items or SCALAR
        return (
            None if names is None else {name: (item, items) for name, item in zip(names, value, strict=True)}
        )
    return None


def _claimed(value: Any, shape: Shape) -> Fields | None:
    """The node of a value. Items and map entries hold themselves, fields of structs do by their parts alone."""
    parts = _parts(value, shape)
    if parts is None or value == {}:
        return {}
    node: Fields = {}
    for name, (part, part_shape) in parts.items():
        below = _claimed(part, part_shape)
        if name.startswith("f:") and name[2:] in shape.fields:
            if below is not None:
                node[name] = below
        else:
            node[name] = {SELF: {}, **below} if below else {}
    return node or None


def _difference(old: Any, new: Any, shape: Shape) -> tuple[Fields, Fields]:
    """Changed and removed parts of two values that both have parts."""
    before, after = _parts(old, shape) or {}, _parts(new, shape) or {}
    changed: Fields = {}
    removed = {name: _everything(*part) for name, part in before.items() if name not in after}
    for name, (value, part_shape) in after.items():
        if name not in before and value == {} and part_shape.embedded:
            continue  # as empty as it always is
        if name not in before:
            changed[name] = _added(value, part_shape, always_there=True)
        elif before[name][0] is not value and before[name][0] != value:
            _compare_part(name, before[name][0], value, part_shape, changed, removed)
    return changed, removed


def _compare_part(name: str, old: Any, new: Any, shape: Shape, changed: Fields, removed: Fields) -> None:
    before, after = _parts(old, shape), _parts(new, shape)
    if before is not None and after is not None and (before or after):
        below_changed, below_removed = _difference(old, new, shape)
        changed |= {name: below_changed} if below_changed else {}
        removed |= {name: below_removed} if below_removed else {}
        return
    changed[name] = _added(new, shape, always_there=False)
    if below := {key: node for key, node in _everything(old, shape).items() if key != SELF}:
        removed[name] = below


def _added(value: Any, shape: Shape, *, always_there: bool) -> Fields:
    """A new value. What Go has even in an empty object, down from its root, is there by its parts alone."""
    parts = _parts(value, shape)
    if not parts:
        return {}
    empty = always_there and shape.embedded
    node = {
        name: _added(part, inner, always_there=empty)
        for name, (part, inner) in parts.items()
        if not (empty and part == {} and inner.embedded)
    }
    return node if empty else {SELF: {}, **node}


def _everything(value: Any, shape: Shape) -> Fields:
    """Every path at and below a value."""
    parts = _parts(value, shape)
    return {SELF: {}, **{name: _everything(*part) for name, part in parts.items()}} if parts else {}
