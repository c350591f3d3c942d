"""Strategic merge patches of built-in kinds, and their directives."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


def test_containers_and_their_environment_merge_by_name() -> None:
    env = [{"name": "C", "value": "3"}, {"name": "A", "$patch": "delete"}]
    main, side = patched(CONTAINERS, {"containers": [{"name": "main", "env": env}]})["containers"]
    assert main["env"] == [{"name": "C", "value": "3"}, {"name": "B", "value": "2"}], (
        "what is new comes first"
    )
    assert (main["image"], side["image"]) == ("app:1", "side:1")


def test_a_list_is_replaced_when_an_item_says_so() -> None:
    patch = {"containers": [{"name": "only", "image": "only:1"}, {"$patch": "replace"}]}
    assert patched(CONTAINERS, patch) == {"containers": [{"name": "only", "image": "only:1"}]}


def test_an_object_is_replaced_or_emptied_when_it_says_so() -> None:
    security = {"securityContext": {"runAsUser": 1, "runAsGroup": 2}}
    replaced = patched(security, {"securityContext": {"$patch": "replace", "runAsUser": 3}})
    assert replaced == {"securityContext": {"runAsUser": 3}}
    assert patched(security, {"securityContext": {"$patch": "delete"}}) == {"securityContext": {}}
    assert patched({}, {"securityContext": {"$patch": "replace", "runAsUser": 3}}) == {"securityContext": {}}


def test_ports_merge_by_container_port() -> None:
    spec = {"containers": [{"name": "main", "ports": [{"containerPort": 80, "name": "web"}]}]}
    patch = {
        "containers": [
            {"name": "main", "ports": [{"containerPort": 80, "protocol": "UDP"}, {"containerPort": 81}]}
        ]
    }
    ports = patched(spec, patch)["containers"][0]["ports"]
    assert ports == [{"containerPort": 80, "name": "web", "protocol": "UDP"}, {"containerPort": 81}]


def test_retain_keys_drops_what_it_does_not_name() -> None:
    volume = {"name": "v", "$retainKeys": ["name", "configMap"], "configMap": {"name": "c"}}
    volumes = patched({"volumes": [{"name": "v", "emptyDir": {}}]}, {"volumes": [volume]})["volumes"]
    assert volumes == [{"name": "v", "configMap": {"name": "c"}}]


def test_an_element_order_is_that_of_the_items_it_names() -> None:
    spec = {"initContainers": [{"name": "x"}, {"name": "injected"}, {"name": "y"}]}
    patch = {"$setElementOrder/initContainers": [{"name": "y"}, {"name": "x"}]}
    assert [item["name"] for item in patched(spec, patch)["initContainers"]] == ["injected", "y", "x"]


def test_null_removes_and_nulls_in_new_parts_are_dropped() -> None:
    assert patched({"nodeName": "n"}, {"nodeName": None, "affinity": {"nodeAffinity": None}}) == {
        "affinity": {}
    }


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


NAMES = st.sampled_from(["a", "b", "c"])
CONTAINER_LISTS = st.lists(
    st.fixed_dictionaries({"name": NAMES, "image": st.sampled_from(["x:1", "y:1"])}),
    unique_by=lambda item: item["name"],
)


@settings(deadline=None, max_examples=40)
@given(CONTAINER_LISTS, CONTAINER_LISTS)
def test_merging_containers_keeps_others_and_is_idempotent(old: list[Any], new: list[Any]) -> None:
    once = patched({"containers": old}, {"containers": new})
    images = {item["name"]: item["image"] for item in once["containers"]}
    assert images == {item["name"]: item["image"] for item in [*old, *new]}
    assert patched(once, {"containers": new}) == once
