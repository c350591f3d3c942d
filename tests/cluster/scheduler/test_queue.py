from typing import Any

import pytest

from gpuyard_cluster.scheduler.pods import PodInfo
from gpuyard_cluster.scheduler.queue import Place, SchedulingQueue
from tests.cluster.small_api import pod


def info(name: str, version: int = 1, **spec: Any) -> PodInfo:
    created = spec.pop("created", "2026-01-01T00:00:00Z")
    made = pod(name, **spec)
    made["metadata"].update(uid=name, resourceVersion=str(version), creationTimestamp=created)
    return PodInfo.of(made)


def names(queue: SchedulingQueue, now: float = 0) -> list[str]:
    found = []
    while (popped := queue.pop(now)) is not None:
        found.append(popped.name)
    return found


def queue_of(*pods: PodInfo) -> SchedulingQueue:
    queue = SchedulingQueue()
    for each in pods:
        queue.update(each)
    return queue


def test_pods_come_by_priority_then_creation_then_arrival() -> None:
    late = "2026-01-01T00:00:01Z"
    queue = queue_of(
        info("late", created=late), info("b"), info("a"), info("urgent", priority=1, created=late)
    )
    assert names(queue) == ["urgent", "b", "a", "late"]


def test_a_pod_is_popped_once_and_a_removed_one_never() -> None:
    queue = queue_of(info("a"), info("b"))
    queue.update(info("a", version=2))
    queue.remove("b")
    assert names(queue) == ["a"]


def test_a_gated_pod_waits_for_its_last_gate() -> None:
    queue = queue_of(info("a", schedulingGates=[{"name": "x"}, {"name": "y"}]))
    queue.update(info("a", version=2, schedulingGates=[{"name": "y"}]))
    queue.wake()
    assert (names(queue), queue.place("a")) == ([], Place.GATED)
    queue.update(info("a", version=3))
    assert names(queue) == ["a"]


def test_a_rejected_pod_waits_for_a_change_of_its_own_or_of_the_cluster() -> None:
    queue = queue_of(info("a"), info("b"))
    names(queue)
    queue.reject("a", now=0)
    queue.reject("b", now=0)
    queue.update(info("a"))
    assert names(queue) == [], "a replay is no change"
    queue.update(info("a", version=2))
    assert names(queue) == ["a"]
    queue.wake()
    assert names(queue) == ["b"]


def test_what_happens_during_an_attempt_counts_after_it() -> None:
    queue = queue_of(info("a"))
    names(queue)
    queue.wake()
    queue.reject("a", now=0)
    assert names(queue) == ["a"]


def test_rejections_are_looked_at_again_after_five_minutes() -> None:
    queue = queue_of(info("a"))
    names(queue)
    queue.reject("a", now=10)
    assert queue.next_at() == 310
    assert (names(queue, 309), names(queue, 310)) == ([], ["a"])


def test_errors_back_off_up_to_ten_seconds_and_a_rejection_resets_that() -> None:
    queue = queue_of(info("a"))
    pauses = []
    for _ in range(6):
        names(queue, 1000)
        queue.fail("a", now=0)
        queue.wake()
        pauses.append(queue.next_at())
    assert pauses == [1, 2, 4, 8, 10, 10]
    names(queue, 1000)
    queue.reject("a", now=0)
    queue.wake()
    names(queue, 0)
    queue.fail("a", now=0)
    assert queue.next_at() == 1


def test_errors_for_days_do_not_overflow() -> None:
    queue = queue_of(info("a"))
    for _ in range(2000):
        names(queue, 1e9)
        queue.fail("a", now=0)
    assert queue.next_at() == 10


@pytest.mark.parametrize("call", ["reject", "fail"])
def test_an_attempt_for_a_pod_that_is_gone_changes_nothing(call: str) -> None:
    queue = queue_of(info("a"))
    names(queue)
    queue.remove("a")
    getattr(queue, call)("a", 0)
    assert (queue.next_at(), queue.uids()) == (None, [])
