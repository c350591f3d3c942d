from typing import Any

import pytest

from gpuyard_cluster.apiserver.custom.structural import compiled, structural_faults

Schema = dict[str, Any]
FREE = {"x-kubernetes-preserve-unknown-fields": True}


def wrapped(part: Schema) -> Schema:
    return {"type": "object", "properties": {"x": part}}


@pytest.mark.parametrize(
    ("part", "field"),
    [
        ({"type": "array", "items": {}}, "items.type"),
        ({"type": "object", "additionalProperties": {}}, "additionalProperties.type"),
        ({"type": "object", "properties": {"a": FREE}, "additionalProperties": True}, "additionalProperties"),
        ({"type": "object", "additionalProperties": False}, "additionalProperties"),
        ({"type": "string", "x-kubernetes-int-or-string": True}, "type"),
        ({"type": "string", "x-kubernetes-embedded-resource": True}, "type"),
        ({"type": "string", "anyOf": [{"type": "string"}]}, "anyOf[0].type"),
        ({"type": "string", "not": {"default": "x"}}, "not.default"),
        ({"type": "object", "allOf": [{"properties": {"a": {"type": "string"}}}]}, "allOf[0].properties[a].type"),
    ],
)  # fmt: skip
def test_a_schema_that_is_not_structural_is_told_by_field(part: Schema, field: str) -> None:
    assert f"s.properties[x].{field}" in {cause.field for cause in structural_faults(wrapped(part), "s")}


@pytest.mark.parametrize(
    "part",
    [
        {"x-kubernetes-preserve-unknown-fields": True},
        {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
        {"type": "array", "items": FREE, "x-kubernetes-list-type": "set"},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"type": "object", "properties": {"a": {"type": "string"}}, "oneOf": [{"required": ["a"]}]},
    ],
)
def test_a_structural_schema_passes(part: Schema) -> None:
    assert not list(structural_faults(wrapped(part), "s"))


def test_the_root_is_an_object() -> None:
    assert {
        cause.field for cause in structural_faults({"type": "array", "items": {"type": "string"}}, "s")
    } == {"s.type"}
    assert "s.nullable" in {
        cause.field for cause in structural_faults({"type": "object", "nullable": True}, "s")
    }


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("^(?i)[a-z]([-a-z0-9]*[a-z0-9])?$", "Widget", "widget-"),
        ("^a(?i)b(c)$", "aBC", "ABC"),
        ("(?i)^a|b$", "xB", "x"),
    ],
)
def test_flags_of_a_pattern_count_from_where_they_stand(pattern: str, matching: str, other: str) -> None:
    assert (
        list(
            structural_faults(
                {"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}}, ""
            )
        )
        == []
    )
    found = compiled(pattern)
    assert (bool(found.search(matching)), bool(found.search(other))) == (True, False)
