"""An expression's value depends on what it reads, and on nothing else."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard_cluster.apiserver.admission import cel, readings
from gpuyard_cluster.apiserver.admission.cel import Expression

EXPRESSIONS = (
    "has(object.metadata.labels)",
    "has(object.metadata.labels) && 'a' in object.metadata.labels && object.metadata.labels['a'] != ''",
    "['a', 'b'].exists(key, key in object.metadata.labels)",
    "object.metadata == other.metadata",
    "object.spec.size() + size(object.metadata)",
    "object == null",
    "object.spec.a.b.c",
    "object.spec.filter(object, object != 'a')",
    "object['spec'].a == other.spec.a",
    "[object.spec, object.spec.a, object]",
    "object.spec.a.contains('a')",
)
leaves = st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from(["", "a", "ab"])
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
objects = leaves | st.fixed_dictionaries({}, optional={"metadata": values, "spec": values, "labels": values})


@pytest.fixture(autouse=True, scope="module")
def _celpy_is_ready() -> None:
    cel.parse("true")  # the first time it raises Python's recursion limit, which hypothesis minds


def compiled(text: str) -> Expression:
    found = cel.compile_text(text, frozenset({"object", "other"}))
    assert isinstance(found, Expression)
    return found


def whole(text: str, variables: dict[str, Any]) -> Any:
    """The value by an expression that reads everything: it is compared with each of the variables as a whole."""
    found = compiled(f"[{text}].filter(it, object == object && other == other)").evaluate(variables)
    return found[0] if isinstance(found, list) else "no value"


@pytest.mark.parametrize("text", EXPRESSIONS)
@settings(max_examples=30)
@given(obj=objects, other=objects)
def test_over_what_it_reads_an_expression_has_the_value_that_it_has_over_the_whole(
    text: str, obj: Any, other: Any
) -> None:
    variables = {"object": obj, "other": other}
    value = compiled(text).evaluate(variables)
    assert whole(text, variables) == ("no value" if isinstance(value, cel.Failure) else value)


def test_only_what_is_read_is_looked_at() -> None:
    read = readings.paths(
        cel.parse("has(object.metadata.labels) && object.metadata.labels['a'] == request.name")
    )
    variables = {
        "object": {"metadata": {"name": "p", "labels": {"a": "b"}}, "spec": {}},
        "request": {"name": "p"},
    }
    assert readings.parts_read(variables, read) == {
        "object": {"metadata": {"labels": {"a": "b"}}},
        "request": {"name": "p"},
    }


def test_a_value_belongs_to_its_caller() -> None:
    rule = compiled("object.spec")
    rule.evaluate({"object": {"spec": {"a": []}}})["a"].append(1)
    assert rule.evaluate({"object": {"spec": {"a": []}}}) == {"a": []}
