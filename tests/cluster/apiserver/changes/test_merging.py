"""Merging a configuration into a live object, and taking fields out of it."""

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard_cluster.apiserver.changes import merging, shapes
from gpuyard_cluster.apiserver.changes.fieldsets import Fields

POD = shapes.of_kind("v1", "Pod") or shapes.SCALAR


def pod(**spec: Any) -> dict[str, Any]:
    return {"spec": spec}


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
