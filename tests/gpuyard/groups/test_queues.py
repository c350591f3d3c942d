from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.groups.queues import Queue, admits, compete, demand, from_object, kinds, text, turn
from gpuyard.verdicts import Reason, Rejection
from gpuyard.writes import JSON
from tests.gpuyard.builders import GPU_RESOURCE

AMOUNTS = st.dictionaries(st.sampled_from(["cpu", GPU_RESOURCE]), st.integers(1, 9))


def test_a_queue_admits_up_to_its_quota() -> None:
    queue = Queue("team-a", {GPU_RESOURCE: 8}).with_usage({GPU_RESOURCE: 6})
    assert admits(queue, {GPU_RESOURCE: 2, "cpu": 10**6}) is None
    assert admits(queue, {GPU_RESOURCE: 3}) == Rejection(
        "", Reason.QUOTA_EXCEEDED, "queue team-a: nvidia.com/gpu: needs 3, 2 left of 8"
    )


def test_every_quota_that_is_exceeded_is_named() -> None:
    refused = admits(Queue("q", {GPU_RESOURCE: 0, "cpu": 1000}), {"cpu": 2000, GPU_RESOURCE: 1})
    assert refused is not None
    assert "cpu: needs 2000" in refused.detail
    assert GPU_RESOURCE in refused.detail


def test_a_queue_over_its_quota_admits_what_needs_nothing_of_it() -> None:
    over = Queue("q", {GPU_RESOURCE: 2}, {GPU_RESOURCE: 5})
    assert admits(over, {"cpu": 1}) is None
    assert over.left(GPU_RESOURCE) == 0


@settings(deadline=None, max_examples=50)
@given(used=AMOUNTS, requests=AMOUNTS)
def test_admitting_and_then_ending_changes_nothing(used: dict[str, int], requests: dict[str, int]) -> None:
    queue = Queue("q", {GPU_RESOURCE: 8}, used)
    assert queue.with_usage(requests).without_usage(requests) == queue


def test_usage_is_never_negative() -> None:
    assert Queue("q", {}, {"cpu": 1}).without_usage({"cpu": 2, GPU_RESOURCE: 1}).used == {}


def test_who_waits_is_served_by_priority_then_by_age() -> None:
    waiting = {"young": turn(0, 9), "old": turn(0, 3), "urgent": turn(5, 8), "idle": turn(-1, 1)}
    assert sorted(waiting, key=waiting.__getitem__) == ["urgent", "old", "young", "idle"]


def pod(gpus: int, **spec: Any) -> JSON:
    limits = {GPU_RESOURCE: str(gpus), "cpu": "1500m"}
    containers = [{"name": "main", "resources": {"limits": limits}}]
    return {"metadata": {"name": "a"}, "spec": {"containers": containers, **spec}}


def test_a_queue_is_read_from_its_object_with_amounts_of_any_notation() -> None:
    spec = {"quota": {GPU_RESOURCE: 8, "cpu": "1500m", "memory": "1Gi"}, "models": {"H100": 4}}
    found = from_object({"metadata": {"name": "red"}, "spec": spec})
    assert found == Queue("red", {GPU_RESOURCE: 8, "cpu": 1500, "memory": 2**30, "H100": 4}, models=("H100",))
    assert [text("cpu", 1500), text(GPU_RESOURCE, 8)] == ["1500m", "8"]


@pytest.mark.parametrize("obj", [{}, {"metadata": {"name": "q"}}, {"metadata": {"name": "q"}, "spec": "no"}])
def test_an_object_that_is_no_queue_is_none(obj: JSON) -> None:
    assert from_object(obj) is None


@pytest.mark.parametrize(
    ("fields", "product", "counts"),
    [
        ({}, None, True),
        ({}, "NVIDIA-H100-80GB-HBM3", True),
        ({}, "NVIDIA-A100-SXM4-40GB", False),
        ({"nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB"}}, None, False),
        ({"nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}}, None, True),
    ],
)
def test_a_pod_counts_for_a_model_unless_its_gpus_are_of_another(
    fields: dict[str, Any], product: str | None, counts: bool
) -> None:
    found = demand(pod(2, **fields), ("H100",), product)
    assert found == {GPU_RESOURCE: 2, "cpu": 1500, "pods": 1} | ({"H100": 2} if counts else {})


def test_what_pods_wish_of_models_counts_too() -> None:
    wishing = pod(2)
    wishing["metadata"]["annotations"] = {"gpuyard.io/gpu-model": "A100, H100"}
    models = ("NVIDIA-H100-80GB-HBM3", "A100", "V100")
    assert [model for model in models if model in demand(wishing, models)] == list(models[:2])


def test_pods_compete_for_gpus_of_one_form_that_may_be_of_one_model() -> None:
    any_gpu, none = kinds(pod(1)), kinds(pod(0))
    h100 = kinds(pod(1, nodeSelector={"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}))
    a100 = kinds(pod(1, nodeSelector={"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB"}))
    limits = {"nvidia.com/mig-1g.5gb": "1"}
    mig = kinds({"metadata": {}, "spec": {"containers": [{"name": "m", "resources": {"limits": limits}}]}})
    pairs = [(any_gpu, h100), (h100, h100), (h100, a100), (any_gpu, mig), (mig, mig), (any_gpu, none)]
    assert [compete(*pair) for pair in pairs] == [True, True, False, False, True, False]
