"""The work around reconciling: when it runs, what it does about failures, that it can be stopped."""

import pytest

from gpuyard.groups import queues, reservations
from gpuyard.writes import Reply, Write
from gpuyard_operator.cache import CROWDS, PATHS
from tests.gang_operator.world import World, group_path, pod_path


@pytest.fixture
def world() -> World:
    found = World()
    found.node("node-1", gpus=2)
    return found


def a_gang(world: World) -> None:
    world.group(minMember=2)
    world.pod("a")
    world.pod("b")


def test_nothing_is_decided_before_everything_was_listed(world: World) -> None:
    a_gang(world)
    held, world.events["reservations"] = world.events["reservations"], []
    world.settle()
    assert world.api.writes == []
    world.events["reservations"] = held
    world.settle()
    assert len(world.bound()) == 2


def test_a_write_that_fails_ends_the_turn_and_is_tried_again_after_a_second(world: World) -> None:
    posts = reservations.path("default")
    world.api.fails = lambda write: write.path == posts
    a_gang(world)
    world.settle()
    assert [write.path for write in world.api.writes].count(posts) == 1
    assert any("failed, trying again: injected" in beat.text for beat in world.told)
    world.api.fails = lambda write: False
    world.advance(0.9)
    assert world.bound() == {}
    world.advance(0.1)
    assert len(world.bound()) == 2


def test_what_a_group_has_just_been_told_is_no_reason_to_look_at_it_again(world: World) -> None:
    """At the start beside thousands of groups each look counts."""
    for number in range(3):
        world.group(f"g{number}", minMember=2)
        world.pod(f"g{number}-0", group=f"g{number}")
    world.settle()
    assert {world.condition(name=f"g{number}")["reason"] for number in range(3)} == {"GangWaiting"}
    assert world.operator.tally.reconciles == 3


def test_what_others_change_of_a_group_while_it_is_told_something_is_looked_at(world: World) -> None:
    """The answer is all that is ever heard of it: what kopf tells later is known by then."""
    meanwhile = [{"spec": {"minMember": 1}}]

    def change(write: Write) -> bool:
        if meanwhile and write.path == f"{group_path()}/status":
            world.api.patch(group_path(), meanwhile.pop())
        return False

    world.api.fails = change
    world.node("n", gpus=8)
    world.group(minMember=2)
    world.pod("a")
    world.settle()
    assert set(world.bound()) == {"a"}


@pytest.mark.parametrize("path", [reservations.path("default"), f"{queues.PATH}/red/status"])
def test_a_fault_of_our_own_stops_neither_a_group_nor_the_status_of_queues_for_good(
    world: World, path: str
) -> None:
    faults = [LookupError("a fault of ours")]

    def fail(write: Write) -> bool:
        if faults and write.path == path:
            raise faults.pop()
        return False

    world.api.fails = fail
    world.queue("red", gpus=4)
    world.group(minMember=2, queue="red")
    for pod in "ab":
        world.pod(pod)
    with pytest.raises(LookupError):
        world.settle()
    world.advance(5)
    assert set(world.bound()) == {"a", "b"}
    found = world.at(f"{queues.PATH}/red")
    assert found is not None
    assert found["status"]["used"] == {"nvidia.com/gpu": "2"}


def test_many_events_at_once_make_one_question(world: World) -> None:
    world.group(minMember=2)
    for number in range(20):
        world.pod(f"pod-{number:02}", gpus=0)
    world.settle()
    assert [len(request.members) for request in world.questions] == [20]


def test_a_gang_that_runs_is_left_in_peace(world: World) -> None:
    a_gang(world)
    world.settle()
    world.phase("a", "Running")
    world.phase("b", "Running")
    world.settle()
    written = len(world.api.writes)
    world.node("node-2", gpus=1)
    world.advance(120)
    assert len(world.api.writes) == written


def test_an_operator_that_was_stopped_writes_nothing_more(world: World) -> None:
    a_gang(world)
    world.operator.stop()
    world.advance(60)
    assert world.api.writes == []


def test_before_an_eviction_the_pods_are_looked_at_again(world: World) -> None:
    """A watch that lags must not cost a pod: b was bound, but nobody told the operator."""
    world.binds_refused.add("b")
    a_gang(world)
    world.settle()
    world.events["pods"].clear()
    world.bind("b", "node-1")
    world.events["pods"].clear()
    world.advance(30)
    assert set(world.bound()) == {"a", "b"}
    assert not any(write.path.endswith("/eviction") for write in world.api.writes)
    assert world.places() is None


def test_a_pod_that_vanished_unseen_is_forgotten_when_the_extender_does_not_know_it(world: World) -> None:
    world.group(minMember=2)
    for name in ("a", "b", "c"):
        world.pod(name)
    while world.deliver():
        pass
    world.delete(pod_path("c"))
    world.events["pods"].clear()
    world.advance(2)
    assert set(world.bound()) == {"a", "b"}


def test_a_resync_finds_what_no_event_told(world: World) -> None:
    world.settle()
    a_gang(world)
    for resource in PATHS.keys() - CROWDS.keys():
        world.events[resource].clear()
    assert world.clock.complete(world.operator.resync()) == ""
    world.settle()
    assert len(world.bound()) == 2


def test_a_resync_says_what_cannot_be_listed(world: World) -> None:
    async def refuse(path: str, **query: str) -> Reply:
        return Reply(404, {"message": "the server could not find the requested resource"})

    world.api.read = refuse  # type: ignore[method-assign]
    problem = world.clock.complete(world.operator.resync())
    assert problem.startswith("cannot list pods: the server could not find the requested resource")


def test_the_operator_tells_the_story_of_a_gang(world: World) -> None:
    a_gang(world)
    world.settle()
    assert [beat.text for beat in world.told] == [
        "gang default/ring asks for places for 2 members",
        "gang default/ring reserves a on node-1, b on node-1",
        "gang default/ring un-gates a, b",
        "gang default/ring 2 members are bound",
    ]
