"""Merge, JSON and strategic merge patches by content type."""

from typing import Any

import pytest

from gpuyard.writes import PatchType
from gpuyard_cluster.apiserver.changes.patches import apply_patch
from gpuyard_cluster.apiserver.errors import ApiError

CONFIG_MAP = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "a"},
    "data": {"x": "1", "y": "2"},
}
WIDGET = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}}


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
