"""Which fields an object has, and which differ."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard_cluster.apiserver.changes import shapes
from gpuyard_cluster.apiserver.changes.comparison import compare, item_names, of_object

POD = shapes.of_kind("v1", "Pod") or shapes.SCALAR
CONFIG_MAP = shapes.of_kind("v1", "ConfigMap") or shapes.SCALAR


def pod(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}


def test_an_empty_object_is_claimed_and_an_empty_keyed_list_is_not() -> None:
    fields = of_object(pod(securityContext={}, containers=[]), POD)
    assert fields == {"f:spec": {"f:securityContext": {}}}


@pytest.mark.parametrize(
    "items", [[{"name": "a"}, {"name": "a"}], [{"image": "x"}, {}], ["a"], [{"name": None}]], ids=str
)
def test_items_without_a_key_of_their_own_have_no_names(items: list[Any]) -> None:
    assert item_names(items, POD.fields["spec"].fields["containers"]) is None


DATA = st.dictionaries(st.sampled_from("abc"), st.sampled_from("12"), max_size=3)


@settings(deadline=None, max_examples=60)
@given(DATA, DATA)
def test_a_change_is_what_was_added_modified_or_removed(old: dict[str, str], new: dict[str, str]) -> None:
    change = compare(
        {"metadata": {}, "data": old}, {"metadata": {}, "data": new}, CONFIG_MAP or shapes.SCALAR
    )
    changed = set(change.changed.get("f:data", {})) - {"."}
    assert changed == {f"f:{key}" for key in new if old.get(key) != new[key]}
    assert set(change.removed.get("f:data", {})) - {"."} == {f"f:{key}" for key in old if key not in new}
    assert bool(change) is (old != new)
