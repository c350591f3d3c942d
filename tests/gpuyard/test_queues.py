from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.queues import Queue, admits, turn
from gpuyard.verdicts import Reason, Rejection
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
