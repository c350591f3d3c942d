"""The shape of an object: which fields there are, and how lists and maps merge.

Stands for the typed schemas that strategic merge patch (Go struct tags) and server-side apply (structured-merge-diff)
read. Built-in kinds come from the type table and `merge_keys`, custom ones from their structural schema. Law: a
position that no shape describes is atomic, it is replaced as a whole.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.changes import merge_keys
from gpuyard_cluster.apiserver.kinds import kind_table, kinds


@dataclass(frozen=True, slots=True)
class Shape:
    """One position: a scalar (the default), an object with `fields`, a map with `values`, or a list of `items`."""

    fields: Mapping[str, "Shape"] = field(default_factory=dict)
    values: "Shape | None" = None
    items: "Shape | None" = None
    keys: tuple[str, ...] = ()
    """The fields that identify an item, of a list that merges by key."""
    unique: bool = False
    """A list of scalars that merges as a set."""
    atomic: bool = False
    """An object, map or list that has one owner and is replaced as a whole."""
    patch_key: str = ""
    """The field by which strategic merge patch matches items; empty where it replaces the list."""
    key_defaults: Mapping[str, Any] = field(default_factory=dict)
    """Values of key fields that an item may leave out."""
    embedded: bool = False
    """Part of every object of its kind, also where nothing is set: a Go struct that is no pointer."""
    loose: bool = False
    """Keeps fields that it does not describe: objects all the way down, lists atomic, as `deduced` types."""

    def child(self, name: str) -> "Shape | None":
        """The shape below a field or key; None where nothing is known of it."""
        found = self.fields.get(name, self.values)
        return LOOSE if found is None and self.loose else found

    @property
    def granular_object(self) -> bool:
        """Whether each field or key below has owners of its own."""
        return not self.atomic and (bool(self.fields) or self.values is not None or self.loose)

    @property
    def granular_list(self) -> bool:
        """Whether each item has owners of its own."""
        return bool(self.keys) or self.unique


SCALAR = Shape()
LOOSE = Shape(loose=True)


def of_kind(api_version: str, kind: str) -> Shape | None:
    """The shape of a built-in kind; None for any other."""
    return _builtin().get(f"{api_version}/{kind}")


def of_schema(schema: JSON) -> Shape:
    """The shape of a custom resource, from its version's openAPIV3Schema."""
    root = _from_schema(schema)
    fields = {**root.fields, "apiVersion": SCALAR, "kind": SCALAR, "metadata": _builtin()["metadata"]}
    return replace(root, fields=fields)


@functools.cache
def _builtin() -> dict[str, Shape]:
    """The shapes of all built-in kinds by `version/Kind`, and of object metadata."""
    table = orjson.loads(kind_table.TABLE.read_bytes())
    # Types refer to each other, JSONSchemaProps to itself: each has its dict of fields before it is filled.
    fields: dict[str, dict[str, Shape]] = {name: {} for name in table["types"]}
    named = {name: Shape(fields=fields[name], atomic=name in merge_keys.ATOMIC_TYPES) for name in fields}
    for name, texts in table["types"].items():
        fields[name] |= {key: _field(named, f"{name}.{key}", text) for key, text in texts.items()}
    roots = set(table["kinds"].values())
    for name in roots:
        fields[name] |= {
            key: replace(fields[name][key], embedded=True)
            for key in ("metadata", "spec", "status")
            if key in fields[name]
        }
    found = {key: named[name] for key, name in table["kinds"].items()}
    return {**found, "metadata": replace(named["V1ObjectMeta"], embedded=True)}


def _field(named: Mapping[str, Shape], path: str, text: str) -> Shape:
    """`path` is `Type.field`; `text` is its type in the table's notation."""
    if text.startswith("[]"):
        keys = merge_keys.LISTS.get(path, ())
        return Shape(
            items=named.get(text[2:], SCALAR),
            keys=keys,
            unique=path in merge_keys.SETS,
            patch_key=merge_keys.PATCH_KEYS.get(path, keys[0] if keys else ""),
            key_defaults=_key_defaults(path, text[2:], keys),
            embedded=path in merge_keys.EMBEDDED,
        )
    if text.startswith("{}"):
        return Shape(values=named.get(text[2:], SCALAR), atomic=path in merge_keys.ATOMIC_MAPS)
    found = named.get(text, SCALAR)
    return replace(found, embedded=True) if path in merge_keys.EMBEDDED else found


def _key_defaults(path: str, item: str, keys: tuple[str, ...]) -> Mapping[str, Any]:
    """What the keys of an item are that has none: in Go no field is missing, it is empty."""
    empty = {key: 0 if kinds.fields(item)[key] == "int" else "" for key in keys}
    return {**empty, **merge_keys.KEY_DEFAULTS.get(path, {})}


def _from_schema(schema: Any) -> Shape:
    if not isinstance(schema, dict):
        return SCALAR
    if schema.get("type") == "array":
        return _list_from_schema(schema)
    extra = schema.get("additionalProperties")
    return Shape(
        fields={name: _from_schema(part) for name, part in schema.get("properties", {}).items()},
        values=_from_schema(extra) if isinstance(extra, dict) else None,
        atomic=schema.get("x-kubernetes-map-type") == "atomic",
        loose=bool(schema.get("x-kubernetes-preserve-unknown-fields")),
    )


def _list_from_schema(schema: JSON) -> Shape:
    items, kind = schema.get("items"), schema.get("x-kubernetes-list-type")
    keys = tuple(schema.get("x-kubernetes-list-map-keys", ())) if kind == "map" else ()
    properties = items.get("properties", {}) if isinstance(items, dict) else {}
    defaults = {key: properties[key]["default"] for key in keys if "default" in properties.get(key, {})}
    return Shape(items=_from_schema(items), keys=keys, unique=kind == "set", key_defaults=defaults)
