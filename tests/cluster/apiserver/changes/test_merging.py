"""Merging a configuration into a live object, and taking fields out of it."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard_cluster.apiserver.changes import merging, shapes
from gpuyard_cluster.apiserver.changes.fieldsets import Fields

POD = shapes.of_kind("v1", "Pod") or shapes.SCALAR


def pod(**spec: Any) -> dict[str, Any]:
    return {"spec": spec}


def test_live_items_stay_where_they_are_and_new_ones_follow() -> None:
    live = pod(containers=[{"name": "b", "image": "x"}, {"name": "a"}])
    merged = merging.merge(live, pod(containers=[{"name": "c"}, {"name": "b", "image": "y"}]), POD)
    assert merged == pod(containers=[{"name": "b", "image": "y"}, {"name": "a"}, {"name": "c"}])


def test_an_atomic_list_is_replaced() -> None:
    merged = merging.merge(pod(tolerations=[{"key": "a"}]), pod(tolerations=[{"key": "b"}]), POD)
    assert merged == pod(tolerations=[{"key": "b"}])


def test_a_value_of_another_type_is_replaced() -> None:
    assert merging.merge(pod(containers="none"), pod(containers=[{"name": "a"}]), POD) == pod(
        containers=[{"name": "a"}]
    )


def test_what_lies_at_the_leaves_is_removed() -> None:
    metadata = {"finalizers": ["x", "y"], "labels": {"a": "b"}}
    live = {"metadata": metadata, **pod(containers=[{"name": "a", "image": "i"}])}
    image: Fields = {"f:containers": {'k:{"name":"a"}': {"f:image": {}}}}
    left = merging.remove(live, {"f:metadata": {"f:finalizers": {'v:"x"': {}}}, "f:spec": image}, POD)
    assert left == {"metadata": {**metadata, "finalizers": ["y"]}, **pod(containers=[{"name": "a"}])}


def test_nothing_is_removed_from_a_list_whose_items_have_no_names() -> None:
    live = pod(containers=[{"image": "i"}])
    assert merging.remove(live, {"f:spec": {"f:containers": {'k:{"name":"a"}': {}}}}, POD) == live


@pytest.mark.parametrize(
    ("config", "where"),
    [
        (pod(containers=[{"name": "a"}]), None),
        (pod(containers=[{"image": "a"}]), None),
        (pod(containers=[{"image": "a"}, {"image": "b"}]), ".spec.containers"),
        (pod(containers=[{"name": "a", "env": [{"name": "x"}, {"name": "x"}]}]), ".spec.containers[0].env"),
    ],
)
def test_a_list_with_repeated_items_is_found(config: dict[str, Any], where: str | None) -> None:
    assert merging.faulty_list(config, POD) == where


CONTAINERS = st.lists(
    st.fixed_dictionaries({"name": st.sampled_from("abc")}, optional={"image": st.sampled_from("xy")}),
    unique_by=lambda item: item["name"],
)


@settings(deadline=None, max_examples=60)
@given(CONTAINERS, CONTAINERS)
def test_merging_is_idempotent_and_its_new_items_can_be_taken_out(live: Any, config: Any) -> None:
    before = copy.deepcopy((live, config))
    merged = merging.merge(pod(containers=live), pod(containers=config), POD)
    assert merging.merge(merged, pod(containers=config), POD) == merged
    names = [item["name"] for item in live]
    elements = {item["name"]: f'k:{{"name":"{item["name"]}"}}' for item in config}
    new: Fields = {element: {} for name, element in elements.items() if name not in names}
    left = merging.remove(merged, {"f:spec": {"f:containers": new}}, POD) if new else merged
    assert [item["name"] for item in left["spec"]["containers"]] == names
    assert (live, config) == before
