"""What people read when a gang does not run."""

import pytest

from gpuyard.groups.plans import Unplaceable
from gpuyard.verdicts import Reason, Rejection
from gpuyard.writes import JSON
from gpuyard_operator.deciding.reasons import (
    NODES_NAMED,
    misfit,
    news,
    scheduled,
    starting,
    unplaceable,
    waiting,
)
from gpuyard_operator.objects.groups import Group
from gpuyard_operator.objects.members import Member
from tests.gang_operator.world import World, group_path, pod_path

GROUP = Group("default", "ring", "uid", 3)


def test_missing_members_are_counted() -> None:
    members = [Member("default", "a", "a"), Member("default", "b", "b", held=True)]
    verdict = waiting(GROUP, members, "the extender cannot be reached")
    assert verdict.reason == "GangWaiting"
    assert verdict.message == (
        "1/3 pods present; 1 more held by scheduling gates of others; "
        "no verdict yet: the extender cannot be reached"
    )


def test_a_misfit_names_the_member_and_each_node_with_numbers() -> None:
    rejections = (
        Rejection("node-2", Reason.TAINT_NOT_TOLERATED),
        Rejection("node-1", Reason.INSUFFICIENT_GPUS, "needs 4 GPUs, 2 free of 8"),
    )
    verdict = unplaceable(Unplaceable("b", rejections))
    assert verdict.reason == "GangUnplaceable"
    assert verdict.message == (
        'pod "b" does not fit: node-1: InsufficientGPUs (needs 4 GPUs, 2 free of 8); node-2: TaintNotTolerated'
    )


def test_many_nodes_are_counted() -> None:
    rejections = tuple(Rejection(f"node-{i:02}", Reason.INSUFFICIENT_GPUS) for i in range(NODES_NAMED + 30))
    assert misfit(Unplaceable("b", rejections)).endswith("; and 30 more nodes")


def test_a_cluster_without_nodes_is_said_to_have_none() -> None:
    assert misfit(Unplaceable("b", ())) == 'pod "b" does not fit: there is no node'


def test_a_rejection_of_the_pod_itself_names_no_node() -> None:
    rejection = Rejection("", Reason.INVALID_REQUEST, "nvidia.com/gpu is negative: ask 1 or more")
    assert misfit(Unplaceable("b", (rejection,))) == (
        'pod "b" does not fit: InvalidRequest (nvidia.com/gpu is negative: ask 1 or more)'
    )


def test_success_and_the_way_to_it_have_reasons_of_their_own() -> None:
    assert (starting(2).scheduled, starting(2).reason) == (False, "GangStarting")
    assert (scheduled(2).scheduled, scheduled(2).reason) == (True, "GangScheduled")
    assert scheduled(2, 'pod "d" does not fit').message.endswith('; pod "d" does not fit')


def told(world: World) -> list[tuple[str, str, str, int]]:
    """The events about the group, in the order in which they were written."""
    found = [it for it in world.api.list("/api/v1/events") if it["involvedObject"]["kind"] == "PodGroup"]
    found.sort(key=lambda it: int(it["metadata"]["resourceVersion"]))
    return [(it["type"], it["reason"], it["message"], it["count"]) for it in found]


@pytest.mark.parametrize("kept", [True, False])
def test_each_new_reason_is_told_by_one_event_about_the_group(kept: bool) -> None:
    """G46: wherever its conditions are kept, and whatever else is new while the reason stays."""
    world = World()
    world.keep_conditions(kept)
    world.node("node-1", gpus=1)
    world.group(minMember=3)
    for name in "ab":
        world.pod(name)
        world.advance(1)
    world.advance(10)
    world.pod("c")
    world.advance(10)
    world.restart()
    world.node("node-2", gpus=1)
    world.advance(60)
    assert 'pod "c" does not fit' in world.condition()["message"]
    world.node("node-3", gpus=1)
    world.advance(60)
    assert told(world) == [
        ("Normal", "GangWaiting", "2/3 pods present", 1),
        ("Warning", "GangUnplaceable", 'pod "b" does not fit: node-1: InsufficientGPUs (needs 1 GPUs, 0 free)', 1),
        ("Normal", "GangScheduled", "3 or more members were bound", 1),
    ]  # fmt: skip


def test_what_a_gang_passes_on_its_way_is_told_when_it_lasts() -> None:
    world = World()
    world.node("node-1", gpus=2)
    world.group(minMember=2)
    world.advance(1)
    world.binds_refused.update("ab")
    for name in "ab":
        world.pod(name)
    world.advance(1.9)
    assert told(world) == []
    world.advance(0.1)
    assert [(reason, count) for _, reason, _, count in told(world)] == [("GangStarting", 1)]


def test_a_reason_that_comes_again_after_another_is_told_again() -> None:
    world = World()
    world.node("node-1", gpus=1)
    world.group(minMember=2)
    world.pod("a")
    world.advance(3)
    for _ in range(2):
        world.pod("b")
        world.advance(1)
        world.delete(pod_path("b"))
        world.advance(3)
    counts = {reason: count for _, reason, _, count in told(world)}
    assert counts == {"GangWaiting": 3, "GangUnplaceable": 2}


@pytest.mark.parametrize("kept", [True, False])
def test_the_reasons_of_namesakes_are_told_of_each(kept: bool) -> None:
    world = World()
    world.keep_conditions(kept)
    for _ in range(2):
        world.group(minMember=2)
        world.advance(3)
        world.delete(group_path())
    assert [reason for _, reason, _, _ in told(world)] == ["GangWaiting", "GangWaiting"]


def test_what_the_server_does_not_take_is_told_when_it_does() -> None:
    world = World()
    world.group(minMember=2)
    world.api.fails = lambda write: write.path == f"{group_path()}/status"
    world.advance(5)
    assert told(world) == []
    world.api.fails = lambda write: False
    world.advance(5)
    assert [(reason, count) for _, reason, _, count in told(world)] == [("GangWaiting", 1)]


def test_an_operator_that_was_stopped_tells_nothing_more() -> None:
    world = World()
    world.group(minMember=2)
    world.advance(1)
    world.operator.stop()
    world.advance(5)
    assert told(world) == []


@pytest.mark.parametrize("odd", [{"message": 5}, {"reason": None}, {"reason": ""}, {}])
def test_a_condition_that_somebody_else_made_of_anything_tells_nothing(odd: JSON) -> None:
    status = {"conditions": [{"type": "Scheduled", **odd}]}
    assert news(Group("default", "ring", "uid", status=status)) is None
