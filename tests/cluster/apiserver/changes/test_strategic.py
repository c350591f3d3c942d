"""Strategic merge patches of built-in kinds, and their directives."""

import copy
from typing import Any

import pytest

from gpuyard_cluster.apiserver.changes import shapes, strategic
from gpuyard_cluster.apiserver.errors import ApiError


def patched(spec: Any, patch: Any, part: str = "spec") -> Any:
    """One part of a pod after a strategic merge patch of that part."""
    shape = shapes.of_kind("v1", "Pod")
    assert shape is not None
    before = copy.deepcopy(spec)
    result = strategic.merge({part: spec}, {part: patch}, shape)[part]
    assert spec == before, "the current object must stay as it was"
    return result


CONTAINERS = {
    "containers": [
        {"name": "main", "image": "app:1", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]},
        {"name": "side", "image": "side:1"},
    ]
}


def test_a_list_is_replaced_when_an_item_says_so() -> None:
    patch = {"containers": [{"name": "only", "image": "only:1"}, {"$patch": "replace"}]}
    assert patched(CONTAINERS, patch) == {"containers": [{"name": "only", "image": "only:1"}]}


def test_an_object_is_replaced_or_emptied_when_it_says_so() -> None:
    security = {"securityContext": {"runAsUser": 1, "runAsGroup": 2}}
    replaced = patched(security, {"securityContext": {"$patch": "replace", "runAsUser": 3}})
    assert replaced == {"securityContext": {"runAsUser": 3}}
    assert patched(security, {"securityContext": {"$patch": "delete"}}) == {"securityContext": {}}
    assert patched({}, {"securityContext": {"$patch": "replace", "runAsUser": 3}}) == {"securityContext": {}}


def test_retain_keys_drops_what_it_does_not_name() -> None:
    volume = {"name": "v", "$retainKeys": ["name", "configMap"], "configMap": {"name": "c"}}
    volumes = patched({"volumes": [{"name": "v", "emptyDir": {}}]}, {"volumes": [volume]})["volumes"]
    assert volumes == [{"name": "v", "configMap": {"name": "c"}}]


def test_an_element_order_is_that_of_the_items_it_names() -> None:
    spec = {"initContainers": [{"name": "x"}, {"name": "injected"}, {"name": "y"}]}
    patch = {"$setElementOrder/initContainers": [{"name": "y"}, {"name": "x"}]}
    assert [item["name"] for item in patched(spec, patch)["initContainers"]] == ["injected", "y", "x"]


@pytest.mark.parametrize(
    ("patch", "code"),
    [
        ({"containers": [{"image": "x"}]}, 500),
        ({"containers": ["main"]}, 500),
        ({"securityContext": {"$patch": "frobnicate"}}, 500),
        ({"securityContext": {"$retainKeys": ["a"], "b": 1}}, 400),
        ({"securityContext": {"$retainKeys": "a"}}, 400),
        ({"$deleteFromPrimitiveList/x": "a"}, 400),
        ({"containers": [], "$setElementOrder/containers": "a"}, 400),
    ],
)
def test_a_malformed_patch_is_refused(patch: Any, code: int) -> None:
    with pytest.raises(ApiError) as refused:
        patched(CONTAINERS, patch)
    assert refused.value.code == code
