"""The algebra of field sets."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard_cluster.apiserver.changes.fieldsets import (
    abandoned,
    difference,
    intersection,
    paths,
    union,
    well_formed,
)

ELEMENTS = st.sampled_from(["f:a", "f:b", 'k:{"name":"x"}', 'v:"y"'])


def built(members: list[tuple[str, ...]]) -> dict[str, Any]:
    """The set that holds exactly these paths."""
    fields: dict[str, Any] = {}
    for member in members:
        one: dict[str, Any] = {}
        for element in reversed(member):
            one = {element: one}
        fields = union(fields, one)
    return fields


SETS = st.lists(st.lists(ELEMENTS, min_size=1, max_size=3).map(tuple), max_size=5).map(built)


def members(fields: dict[str, Any]) -> set[str]:
    return set(paths(fields))


@settings(deadline=None, max_examples=80)
@given(SETS, SETS)
def test_operations_on_trees_are_operations_on_their_paths(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    assert members(union(one, other)) == members(one) | members(other)
    assert members(difference(one, other)) == members(one) - members(other)
    assert members(intersection(one, other)) == members(one) & members(other)


@settings(deadline=None, max_examples=80)
@given(SETS, SETS)
def test_a_set_is_the_union_of_what_it_shares_and_what_it_does_not(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    assert union(difference(one, other), intersection(one, other)) == one
    assert union(one, one) == one
    assert union(one, other) == union(other, one)
    assert difference(one, one) == {}


@settings(deadline=None, max_examples=80)
@given(SETS, SETS)
def test_nothing_is_kept_at_or_below_an_abandoned_path(before: dict[str, Any], kept: dict[str, Any]) -> None:
    tops = members(abandoned(before, kept))
    for path in members(kept):
        assert not any(path == top or path.startswith((f"{top}.", f"{top}[")) for top in tops)


def test_paths_are_shown_as_conflicts_show_them() -> None:
    fields = {
        "f:spec": {"f:ports": {'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:name": {}}}},
        "f:finalizers": {'v:"example.com/a"': {}},
    }
    port = '.spec.ports[containerPort=80,protocol="TCP"]'
    assert list(paths(fields)) == [port, f"{port}.name", '.finalizers[="example.com/a"]']


@pytest.mark.parametrize(
    "fields", [None, [], {"x": {}}, {"f:a": 1}, {"k:{": {}}, {"k:1": {}}, {"f:a": {"v:": {}}}]
)
def test_what_is_no_field_set_is_recognised(fields: Any) -> None:
    assert not well_formed(fields)


def test_a_field_set_is_well_formed() -> None:
    assert well_formed({"f:a": {".": {}, 'k:{"n":1}': {}, "v:1": {}}})
