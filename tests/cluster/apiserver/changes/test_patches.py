"""Merge, JSON and strategic merge patches by content type."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.writes import PatchType
from gpuyard_cluster.apiserver.changes.patches import apply_patch, merge_patch
from gpuyard_cluster.apiserver.errors import ApiError

CONFIG_MAP = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "a"},
    "data": {"x": "1", "y": "2"},
}
WIDGET = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}}

KEYS = st.sampled_from("abcd")
VALUES = st.recursive(
    st.integers(0, 3) | st.booleans() | st.text("xy", max_size=2) | st.lists(st.integers(0, 3), max_size=2),
    lambda inner: st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)


def difference(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The merge patch that turns `old` into `new`."""
    patch: dict[str, Any] = {key: None for key in old if key not in new}
    for key, value in new.items():
        if isinstance(value, dict) and isinstance(old.get(key), dict):
            patch[key] = difference(old[key], value)
        elif key not in old or old[key] != value or type(old[key]) is not type(value):
            patch[key] = value
    return patch


@settings(deadline=None, max_examples=60)
@given(OBJECTS, OBJECTS)
def test_merging_the_difference_gives_the_target(old: dict[str, Any], new: dict[str, Any]) -> None:
    before = copy.deepcopy(old)
    assert merge_patch(old, difference(old, new)) == new
    assert old == before


@settings(deadline=None, max_examples=40)
@given(OBJECTS, OBJECTS)
def test_merging_the_same_patch_again_changes_nothing(current: dict[str, Any], patch: dict[str, Any]) -> None:
    once = merge_patch(current, patch)
    assert merge_patch(once, patch) == once


@pytest.mark.parametrize(
    ("operation", "told"),
    [
        ({"op": "test", "path": "/data/x", "value": "2"}, "testing value /data/x failed"),
        ({"op": "test", "path": "/data/missing", "value": "2"}, "failed"),
        ({"op": "remove", "path": "/data/missing"}, "remove operation does not apply"),
        ({"op": "add", "path": "/missing/deep/path", "value": "2"}, "add operation does not apply"),
        ({"op": "add", "path": "data", "value": "2"}, "add operation does not apply"),
        ({"op": "add", "path": "", "value": {}}, "add operation does not apply"),
        ({"op": "frobnicate", "path": "/data/x"}, "frobnicate operation does not apply"),
        ({"op": "add", "path": 3, "value": 1}, "add operation does not apply"),
        ({"op": "replace", "path": "", "value": 1}, "not an object"),
    ],
)
def test_a_failing_json_patch_is_unprocessable_and_says_why(operation: Any, told: str) -> None:
    with pytest.raises(ApiError) as refused:
        apply_patch(PatchType.JSON, CONFIG_MAP, [operation], "ConfigMap")
    assert (refused.value.code, refused.value.reason) == (422, "Invalid")
    assert "the server rejected our request due to an error in our request" in refused.value.message
    assert told in refused.value.message


def test_a_huge_json_patch_is_refused() -> None:
    operations = [{"op": "test", "path": "/data/x", "value": "1"}] * 10_001
    with pytest.raises(ApiError) as refused:
        apply_patch(PatchType.JSON, CONFIG_MAP, operations, "ConfigMap")
    assert refused.value.code == 413


def test_a_custom_resource_takes_no_strategic_merge_patch() -> None:
    with pytest.raises(ApiError) as refused:
        apply_patch(PatchType.STRATEGIC, WIDGET, {}, "Widget")
    assert (refused.value.code, refused.value.reason) == (415, "UnsupportedMediaType")
    assert "application/merge-patch+json" in refused.value.message
    assert "strategic" not in refused.value.message
