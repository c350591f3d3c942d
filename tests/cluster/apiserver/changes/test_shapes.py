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


POD = ("spec", "containers", "[]")


@pytest.mark.parametrize(
    ("path", "keys", "patch_key"),
    [
        (("spec", "containers"), ("name",), "name"),
        ((*POD, "ports"), ("containerPort", "protocol"), "containerPort"),
        ((*POD, "env"), ("name",), "name"),
        (("spec", "tolerations"), (), ""),
        (("spec", "schedulingGates"), ("name",), "name"),
        (("status", "conditions"), ("type",), "type"),
        (("metadata", "ownerReferences"), ("uid",), "uid"),
    ],
)
def test_lists_of_a_pod_merge_by_their_keys(
    path: tuple[str, ...], keys: tuple[str, ...], patch_key: str
) -> None:
    shape = at(shapes.of_kind("v1", "Pod"), *path)
    assert (shape.keys, shape.patch_key) == (keys, patch_key)


def test_finalizers_are_a_set_and_selectors_are_atomic() -> None:
    deployment = shapes.of_kind("apps/v1", "Deployment")
    assert at(deployment, "metadata", "finalizers").unique
    assert not at(deployment, "spec", "selector").granular_object
    assert at(deployment, "metadata", "labels").granular_object


def test_only_built_in_kinds_are_known() -> None:
    assert shapes.of_kind("example.com/v1", "Widget") is None


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
