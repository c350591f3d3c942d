"""The node that is promised to a pod while its victims leave."""

import pytest

from tests.cluster.scheduler.world import GPU, World, taken
from tests.cluster.small_api import node, pod
from tests.stepping import settle

TERMINATING = "preemption: not eligible due to a terminating pod on the nominated node."


@pytest.fixture
def world() -> World:
    return taken()


def test_while_a_victim_is_leaving_nobody_else_has_to_go_or_gets_its_place(world: World) -> None:
    world.add(node("b", nvidia_com__gpu=1), pod("other", {GPU: "1"}))
    world.linger()
    world.add(pod("high", {GPU: "1"}, priority=10))
    home = world.nominated("high")
    world.add(pod("later", {GPU: "1"}, priority=5))
    leaving = [name for name in ("low", "other") if "deletionTimestamp" in world.api.pod(name)["metadata"]]
    assert world.reason("high")[1].endswith(f"no new claims to deallocate, {TERMINATING}")
    assert [world.node_of(name) for name in leaving] == ["a", "b"], "one for each, none twice"
    world.api.remove("pods", next(name for name in leaving if world.node_of(name) == home), "default")
    settle(world.steps)
    assert (world.node_of("high"), world.node_of("later")) == (home, None)
    assert world.nominated("later") not in ("", home)


def test_the_promised_place_is_kept_from_equals_and_lost_to_a_higher_pod(world: World) -> None:
    world.linger()
    world.add(pod("high", {GPU: "1"}, priority=10), pod("equal", {GPU: "1"}, priority=10))
    assert (world.nominated("high"), world.nominated("equal")) == ("a", "")
    world.add(pod("highest", {GPU: "1"}, priority=20))
    assert (world.nominated("high"), world.nominated("highest")) == ("", "a")
    world.api.remove("pods", "low", "default")
    settle(world.steps)
    assert world.node_of("highest") == "a"


def test_a_pod_whose_promised_node_is_of_no_use_any_more_preempts_elsewhere(world: World) -> None:
    world.linger()
    world.add(pod("high", {GPU: "1"}, priority=10))
    assert world.nominated("high") == "a"
    world.add(node("b", nvidia_com__gpu=1), pod("other", {GPU: "1"}, nodeName="b"))
    assert world.nominated("high") == "a", "the victim is still leaving"
    world.add({**node("a", nvidia_com__gpu=1), "spec": {"unschedulable": True}})
    assert world.nominated("high") == "b"


def test_a_promise_ends_when_there_is_nothing_to_wait_for(world: World) -> None:
    world.linger()
    world.add(pod("high", {GPU: "1"}, priority=10))
    world.add({**node("a", nvidia_com__gpu=1), "spec": {"unschedulable": True}})
    assert world.nominated("high") == ""


def test_a_victim_that_is_leaving_already_is_not_deleted_again(world: World) -> None:
    world.linger()
    leaving = world.api.pod("low")
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    world.add(leaving, pod("high", {GPU: "1"}, priority=10))
    assert world.nominated("high") == "a"
    assert not [write for write in world.api.writes if write.method == "DELETE"]


@pytest.mark.parametrize("status", [404, 409])
def test_a_victim_that_is_gone_needs_no_push(world: World, status: int) -> None:
    world.api.refuse = lambda write: status if "DisruptionTarget" in str(write.body) else None
    world.add(pod("high", {GPU: "1"}, priority=1))
    assert world.told("Preempted") == []
    assert world.nominated("high") == "a"
