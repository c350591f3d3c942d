from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard_cluster.apiserver.custom.schema_validation import violations

PROPERTIES: dict[str, Any] = {
    "size": {"type": "integer", "minimum": 1, "maximum": 8},
    "ratio": {"type": "number", "exclusiveMinimum": True, "minimum": 0, "multipleOf": 0.5},
    "mode": {"type": "string", "enum": ["Fast", "Slow"]},
    "label": {"type": "string", "pattern": "^[a-z]+$", "minLength": 2, "maxLength": 3},
    "when": {"type": "string", "format": "date-time"},
    "members": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string"}},
    "names": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
    "ports": {
        "type": "array",
        "items": {"type": "object", "properties": {"p": {"type": "integer"}}},
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["p"],
    },
    "either": {"x-kubernetes-int-or-string": True},
    "big": {"type": "integer", "format": "int32"},
    "maybe": {"type": "string", "nullable": True},
    "extra": {"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 1},
    "one": {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
    "all": {"type": "object", "allOf": [{"required": ["a"]}, {"required": ["b"]}]},
    "any": {"type": "integer", "anyOf": [{"minimum": 10}, {"maximum": 1}], "not": {"enum": [11]}},
}
SCHEMA = {"type": "object", "properties": PROPERTIES, "required": ["size"]}


def causes(**values: Any) -> dict[str, tuple[str, str]]:
    found = violations({"size": 1, **values}, SCHEMA, "spec")
    return {cause.field: (cause.reason, cause.message) for cause in found}


@pytest.mark.parametrize(
    ("values", "field", "reason", "words"),
    [
        ({"size": "1"}, "spec.size", "FieldValueTypeInvalid", 'must be of type integer: "string"'),
        ({"size": True}, "spec.size", "FieldValueTypeInvalid", 'must be of type integer: "boolean"'),
        ({"size": None}, "spec.size", "FieldValueTypeInvalid", 'must be of type integer: "null"'),
        ({"size": 0}, "spec.size", "FieldValueInvalid", "should be greater than or equal to 1"),
        ({"size": 9}, "spec.size", "FieldValueInvalid", "should be less than or equal to 8"),
        ({"ratio": 0}, "spec.ratio", "FieldValueInvalid", "should be greater than 0"),
        ({"ratio": 0.7}, "spec.ratio", "FieldValueInvalid", "should be a multiple of 0.5"),
        ({"mode": "Odd"}, "spec.mode", "FieldValueNotSupported", 'supported values: "Fast", "Slow"'),
        ({"label": "AB"}, "spec.label", "FieldValueInvalid", "should match '^[a-z]+$'"),
        ({"label": "a"}, "spec.label", "FieldValueInvalid", "should be at least 2 chars long"),
        ({"label": "abcd"}, "spec.label", "FieldValueTooLong", "Too long"),
        ({"when": "noon"}, "spec.when", "FieldValueTypeInvalid", "must be of type date-time"),
        ({"members": ["a", "b", "c"]}, "spec.members", "FieldValueTooMany", "must have at most 2 items"),
        ({"members": []}, "spec.members", "FieldValueInvalid", "should have at least 1 items"),
        ({"members": [1]}, "spec.members[0]", "FieldValueTypeInvalid", "must be of type string"),
        ({"names": ["a", "a"]}, "spec.names[1]", "FieldValueDuplicate", "Duplicate value"),
        ({"ports": [{"p": 1}, {"p": 1}]}, "spec.ports[1]", "FieldValueDuplicate", '{"p":1}'),
        ({"either": 1.5}, "spec.either", "FieldValueTypeInvalid", "int-or-string"),
        ({"extra": {"a": "x"}}, "spec.extra.a", "FieldValueTypeInvalid", "integer"),
        ({"extra": {"a": 1, "b": 2}}, "spec.extra", "FieldValueTooMany", "at most 1"),
        ({"one": {"a": 1, "b": 1}}, "<nil>", "FieldValueInvalid", "Found 2 valid alternatives"),
        ({"big": 2**31}, "<nil>", "FieldValueInvalid", "within the range of its format"),
        ({"any": 11}, "<nil>", "FieldValueInvalid", "must not validate the schema (not)"),
    ],
)
def test_each_violation_is_one_cause(values: dict[str, Any], field: str, reason: str, words: str) -> None:
    found = causes(**values)
    assert list(found) == [field]
    assert found[field][0] == reason
    assert words in found[field][1]


@pytest.mark.parametrize(
    ("values", "fields"),
    [
        ({"size": 8.5}, ["spec.size", "<nil>", "spec.size"]),
        ({"label": [1]}, ["spec.label"]),
        ({"mode": 1}, ["spec.mode", "spec.mode"]),
        ({"one": {}}, ["<nil>", "spec.one.a"]),
        ({"all": {"a": 1}}, ["spec.all.b", "<nil>"]),
        ({"any": 5}, ["<nil>", "spec.any"]),
    ],
)
def test_a_value_is_held_to_all_of_its_schema_whatever_it_breaks_first(
    values: dict[str, Any], fields: list[str]
) -> None:
    assert [cause.field for cause in violations({"size": 1, **values}, SCHEMA, "spec")] == fields


def test_what_is_missing_and_what_is_wrong_are_all_told() -> None:
    found = [cause.field for cause in violations({"mode": "Odd", "label": "AB"}, SCHEMA, "spec")]
    assert found == ["spec.size", "spec.mode", "spec.label"]


def test_good_values_pass() -> None:
    assert not causes(
        size=8.0, ratio=1.5, mode="Fast", label="ab", when="2026-01-02T03:04:05Z", either="50%", maybe=None
    )
    assert not causes(
        either=3, one={"a": 1}, any=12, names=["a", "b"], ports=[{"p": 1}, {"p": 2}], extra={"a": 1}
    )


JSON_INTEGERS = st.integers(-(2**63), 2**64 - 1)  # others are refused where a body is decoded
ANYTHING = st.recursive(
    st.none() | st.booleans() | JSON_INTEGERS | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@settings(deadline=None, max_examples=100)
@given(st.sampled_from(sorted(PROPERTIES)), ANYTHING)
def test_no_value_breaks_the_validator(field: str, value: Any) -> None:
    assert all(
        cause.field.startswith((f"spec.{field}", "<nil>"))
        for cause in violations({"size": 1, field: value}, SCHEMA, "spec")
    )
