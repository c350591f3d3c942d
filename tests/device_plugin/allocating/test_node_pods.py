"""A pod is read as far as it makes sense; nothing that somebody wrote into it can crash the plugin."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard import vocabulary
from gpuyard_device_plugin.allocating.node_pods import read
from tests.device_plugin.fakes import pod


def test_plan_truth_and_wants_are_read() -> None:
    obj = pod("a", {"x": 1, "y": 0}, {"x": ["GPU-1"]}, init={"load": 2})
    truth = [{"name": vocabulary.GPU, "resources": [{"resourceID": "GPU-2", "health": "Healthy"}]}]
    obj["status"]["containerStatuses"] = [{"name": "x", "allocatedResourcesStatus": truth}, {"name": "y"}]
    found = read(obj)
    assert found is not None
    assert [(want.container, want.count) for want in found.wants] == [("load", 2), ("x", 1)]
    assert found.plan == {"x": {vocabulary.GPU: ("GPU-1",)}}
    assert found.truth == {"x": {vocabulary.GPU: ("GPU-2",)}}
    assert (found.label, found.path) == ("default/a", "/api/v1/namespaces/default/pods/a")


@pytest.mark.parametrize(
    ("status", "admitted", "ended"),
    [
        ({}, False, False),
        ({"phase": "Pending"}, False, False),
        ({"phase": "Pending", "initContainerStatuses": [{"name": "load"}]}, True, False),
        ({"phase": "Running"}, True, False),
        ({"phase": "Failed"}, False, True),
        ({"phase": "Succeeded", "containerStatuses": [{"name": "x"}]}, True, True),
    ],
)
def test_the_status_tells_how_far_the_kubelet_is(status: Any, admitted: bool, ended: bool) -> None:
    found = read({**pod("a"), "status": status})
    assert found is not None
    assert (found.admitted, found.ended) == (admitted, ended)


def test_a_plan_that_cannot_be_read_is_no_plan() -> None:
    obj = pod("a")
    obj["metadata"]["annotations"][vocabulary.ALLOCATION] = "{nonsense"
    found = read(obj)
    assert found is not None
    assert found.plan == {}


def test_a_request_that_makes_no_sense_wants_nothing() -> None:
    found = read(pod("a", {"train": -1}))
    assert found is not None
    assert found.wants == ()


_JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@settings(deadline=None, max_examples=60)
@given(_JUNK, _JUNK, _JUNK)
def test_any_object_at_all_is_read_or_left_out(metadata: Any, spec: Any, status: Any) -> None:
    read({"metadata": metadata, "spec": spec, "status": status})
    read({**pod("a"), "status": {"phase": "Running", "containerStatuses": status}})
    read({**pod("a"), "spec": {"containers": spec}})
