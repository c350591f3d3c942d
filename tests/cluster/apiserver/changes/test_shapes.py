"""How the fields of built-in and custom kinds merge."""

from typing import Any

import pytest

from gpuyard_cluster.apiserver.changes import shapes


def at(shape: shapes.Shape | None, *path: str) -> shapes.Shape:
    """The shape at a path; `[]` steps into the items of a list."""
    for name in path:
        assert shape is not None
        shape = shape.items if name == "[]" else shape.child(name)
    assert shape is not None
    return shape


def test_a_schema_says_how_a_custom_resource_merges() -> None:
    items = {
        "type": "object",
        "properties": {"id": {"type": "string"}, "zone": {"type": "string", "default": "z"}},
    }
    keyed = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["id", "zone"]}
    properties = {
        "parts": {"type": "array", "items": items, **keyed},
        "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        "whole": {
            "type": "object",
            "properties": {"a": {"type": "string"}},
            "x-kubernetes-map-type": "atomic",
        },
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "named": {"type": "object", "additionalProperties": {"type": "string"}},
    }
    shape = shapes.of_schema({"type": "object", "properties": properties})
    parts = at(shape, "parts")
    assert (parts.keys, parts.key_defaults) == (("id", "zone"), {"zone": "z"})
    assert at(shape, "tags").unique
    assert not at(shape, "whole").granular_object
    assert at(shape, "free", "anything", "below").granular_object
    assert at(shape, "named").granular_object
    assert at(shape, "metadata", "ownerReferences").keys == ("uid",)


@pytest.mark.parametrize("schema", [{}, {"properties": {"a": None}}, {"type": "array", "items": 7}])
def test_a_strange_schema_describes_nothing(schema: Any) -> None:
    assert shapes.of_schema(schema).child("b") is None
