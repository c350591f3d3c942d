"""Pods that kube-scheduler would never try again by itself."""

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
