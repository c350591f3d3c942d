"""Pods that kube-scheduler would never try again by itself."""

import tracemalloc

import pytest

from gpuyard_extender import waking
from gpuyard_extender.deciding import scheduling
from tests.extender.builders import Stage, device, gpu_node, gpu_pod


def full() -> tuple[Stage, dict]:  # type: ignore[type-arg]
    """One node, one GPU, and a pod that holds it."""
    stage = Stage(gpu_node("node-1", 1))
    holder = gpu_pod("holder", node="node-1", plan=[device("node-1", 0)], phase="Running")
    stage.create(holder)
    return stage, holder


def test_a_pod_that_was_rejected_just_before_its_place_was_seen_free_is_woken_once() -> None:
    stage, holder = full()
    late = gpu_pod("late")
    stage.create(late)
    assert stage.filter(late)["NodeNames"] == []
    stage.delete(holder)
    stage.wait(10)
    assert stage.server.woken == ["late"]


def test_a_pod_that_kube_scheduler_tries_by_itself_is_not_woken() -> None:
    stage, holder = full()
    late = gpu_pod("late")
    stage.create(late)
    stage.filter(late)
    stage.delete(holder)
    stage.filter(late)
    stage.wait(10)
    assert stage.server.woken == []


def test_a_pod_that_would_be_rejected_again_is_left_alone() -> None:
    stage, holder = full()
    big = gpu_pod("big", 2)
    stage.create(big)
    stage.filter(big)
    stage.delete(holder)
    stage.wait(10)
    assert stage.server.woken == []
    assert stage.clock.next_at() is None


def test_a_pod_that_waits_for_an_assumption_is_woken_when_it_expires() -> None:
    stage = Stage(gpu_node("node-1", 1))
    first, second = gpu_pod("first"), gpu_pod("second")
    stage.create(first, second)
    stage.filter(first)
    stage.filter(second)
    stage.delete(first)
    stage.wait(10)
    assert stage.server.woken == ["second"]


def test_a_deleted_pod_is_not_woken() -> None:
    stage, holder = full()
    late = gpu_pod("late")
    stage.create(late)
    stage.filter(late)
    stage.delete(late)
    stage.delete(holder)
    stage.wait(10)
    assert stage.server.woken == []


def test_a_pod_is_not_woken_for_a_node_that_kube_scheduler_did_not_offer() -> None:
    stage = Stage(gpu_node("node-1", 1), gpu_node("node-2", 1))
    stage.create(gpu_pod("holder", node="node-1", plan=[device("node-1", 0)], phase="Running"))
    pinned = gpu_pod("pinned")
    stage.create(pinned)
    stage.filter(pinned, "node-1")
    other = gpu_pod("other", node="node-2", plan=[device("node-2", 0)], phase="Running")
    stage.create(other)
    stage.delete(other)
    stage.wait(10)
    assert stage.server.woken == []


def crowd(stage: Stage, count: int, gpus: int = 2) -> list[dict]:  # type: ignore[type-arg]
    """So many pods that were rejected."""
    pods = [gpu_pod(f"p{i}", gpus) for i in range(count)]
    stage.create(*pods)
    for pod in pods:
        assert stage.filter(pod)["NodeNames"] == []
    return pods


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the pods that are judged on one node, in turn."""
    names: list[str] = []
    judge = scheduling.judge

    def counted(pod, *more):  # type: ignore[no-untyped-def]
        names.append(pod.name)
        return judge(pod, *more)

    monkeypatch.setattr(scheduling, "judge", counted)
    return names


def test_while_kube_scheduler_works_off_a_crowd_of_rejected_pods_nobody_judges_them_a_second_time(
    judged: list[str],
) -> None:
    stage = Stage(gpu_node("node-1", 1), gpu_node("node-2", 1))
    pods = crowd(stage, 40)
    stage.wait(1)
    judged.clear()
    for tick in range(40):
        stage.extender.observe("nodes", "MODIFIED", gpu_node("node-1", 1, cpu=str(65 + tick)))
        stage.filter(pods[tick])
        stage.wait(0.1)
    assert judged == []
    stage.wait(10)
    assert sorted(judged) == sorted(pod["metadata"]["name"] for pod in pods[:-1])


def test_a_pod_is_woken_within_seconds_although_something_else_keeps_kube_scheduler_busy() -> None:
    stage, holder = full()
    late, big = gpu_pod("late"), gpu_pod("big", 2)
    stage.create(late, big)
    stage.filter(late)
    stage.delete(holder)
    for _ in range(60):
        stage.filter(big)
        stage.wait(0.1)
    assert stage.server.woken == ["late"]


def test_no_verb_waits_until_a_whole_crowd_is_judged_and_the_last_of_it_is_woken_all_the_same(
    judged: list[str],
) -> None:
    stage = Stage(gpu_node("node-1", 1))
    crowd(stage, 3 * waking.LOOKS_AT_ONCE)
    holder = gpu_pod("holder", node="node-1", plan=[device("node-1", 0)], phase="Running")
    stage.create(holder)
    late = gpu_pod("late")
    stage.create(late)
    stage.filter(late)
    stage.wait(10)
    judged.clear()
    stage.delete(holder)
    stage.wait(waking.PATIENCE_SECONDS)
    assert 0 < len(judged) <= waking.LOOKS_AT_ONCE
    stage.wait(2)
    assert stage.server.woken == ["late"]
    assert len(judged) == len(set(judged))


def test_events_and_wakes_together_are_no_more_than_50_writes_a_second() -> None:
    stage = Stage(gpu_node("node-1", 1))
    crowd(stage, 150)
    stage.extender.observe("nodes", "MODIFIED", gpu_node("node-1", 8))
    written = [0]
    for _ in range(60):
        stage.wait(0.1)
        written.append(len(stage.server.events) + len(stage.server.woken))
    assert max(after - before for before, after in zip(written, written[10:], strict=False)) <= 50
    assert len(stage.server.woken) > 50


def test_the_nodes_that_a_thousand_rejected_pods_were_offered_are_remembered_once() -> None:
    stage = Stage(gpu_node("node-1", 1))
    names = ["node-1", *(f"far-{i}" for i in range(5000))]
    pods = [gpu_pod(f"p{i}", 2) for i in range(40)]
    stage.create(*pods)
    stage.filter(pods[0], *names)
    tracemalloc.start()
    try:
        for pod in pods:
            stage.filter(pod, *names)
        assert tracemalloc.get_traced_memory()[0] < 2_000_000
    finally:
        tracemalloc.stop()
