"""What a Pod object says about devices."""

from gpuyard import annotations, vocabulary
from gpuyard.annotations import ids
from gpuyard_extender.ledger import pods
from tests.extender.builders import gpu_pod


def test_status_beats_plan_container_by_container() -> None:
    obj = gpu_pod("a", node="n", truth=["GPU-real"])
    plan = {"setup": {vocabulary.GPU: ("GPU-init",)}, "train": {vocabulary.GPU: ("GPU-planned",)}}
    obj["metadata"]["annotations"] = {vocabulary.ALLOCATION: annotations.write_allocation(plan)}
    pod = pods.read(obj)
    assert pod is not None
    assert ids(pod.truth) == {"GPU-real"}
    assert ids(pod.plan) == {"GPU-init"}


def test_devices_of_others_are_not_ours() -> None:
    obj = gpu_pod("a", node="n", truth=["x"], resource="example.com/fpga")
    pod = pods.read(obj)
    assert pod is not None
    assert pod.truth == {}


def test_an_object_that_is_no_pod_is_none() -> None:
    assert pods.read({}) is None
    assert pods.read({"metadata": {"name": "a", "namespace": "b", "uid": "c"}}) is None
