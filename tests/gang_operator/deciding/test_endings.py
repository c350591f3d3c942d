"""Groups that are over: those that did not start in time, and those that give up what is left of them."""

import pytest

from gpuyard import vocabulary
from gpuyard.verdicts import EXPIRED, RELEASED
from tests.gang_operator.test_leaders import DRIVER, EXECUTOR, member
from tests.gang_operator.test_life import evictions, gang
from tests.gang_operator.world import World, group_path, pod_path


@pytest.fixture(params=[True, False], ids=["", "elsewhere"])
def world(request: pytest.FixtureRequest) -> World:
    """Conditions may be kept elsewhere than by the group."""
    found = World()
    found.keep_conditions(request.param)
    for number in range(1, 4):
        found.node(f"node-{number}", gpus=1)
    return found


def deadline(world: World, seconds: str, minimum: int = 4) -> None:
    world.group(minMember=minimum, scheduleTimeoutSeconds=1)
    note(world, vocabulary.SCHEDULE_DEADLINE, seconds)
    for name in "abcd":
        world.pod(name)
    world.settle()


def note(world: World, key: str, text: str) -> None:
    world.api.patch(group_path(), {"metadata": {"annotations": {key: text}}})


@pytest.mark.parametrize("restarts", [False, True])
def test_a_group_that_is_not_scheduled_in_time_has_failed_and_says_why(world: World, restarts: bool) -> None:
    """G22."""
    deadline(world, "600")
    world.advance(599)
    if restarts:
        world.restart()
    assert (world.status()["phase"], world.condition()["reason"]) == ("Scheduling", "GangUnplaceable")
    world.advance(2)
    assert (world.status()["phase"], world.condition()["reason"]) == ("Failed", EXPIRED)
    assert world.condition()["message"].startswith(
        'not scheduled within 600 s; at last: pod "d" does not fit'
    )


def test_nothing_of_a_group_that_has_failed_starts_whatever_its_owner_does(world: World) -> None:
    """G22: pods are created again and again, and no eviction makes them be."""
    deadline(world, "60")
    world.advance(61)
    world.node("node-4", gpus=1)
    written = len(world.api.writes)
    for _ in range(5):
        for name in "abcd":
            world.delete(pod_path(name))
            world.pod(name)
        world.advance(10)
    assert (world.bound(), world.status()["phase"], evictions(world)) == ({}, "Failed", [])
    assert len(world.api.writes) == written


@pytest.mark.parametrize("text", ["0", "100000"])
def test_a_group_with_more_time_or_no_deadline_goes_on(world: World, text: str) -> None:
    deadline(world, "60")
    world.advance(61)
    note(world, vocabulary.SCHEDULE_DEADLINE, text)
    world.node("node-4", gpus=1)
    world.advance(1)
    assert set(world.bound()) == set("abcd")
    assert world.condition()["status"] == "True"


def test_a_group_that_was_scheduled_in_time_has_no_deadline_and_one_that_lost_all_has_it_anew(
    world: World,
) -> None:
    deadline(world, "60", minimum=2)
    world.advance(3600)
    assert world.status()["phase"] != "Failed"
    for name in "abcd":
        world.delete(pod_path(name))
    world.settle()
    world.pod("a")
    world.advance(55)
    assert world.condition()["reason"] == "GangWaiting"
    world.advance(10)
    assert world.condition()["reason"] == EXPIRED


def test_the_deadline_of_a_group_that_lost_all_passes_though_nothing_else_happens(world: World) -> None:
    deadline(world, "60", minimum=2)
    world.advance(1)
    for name in "abcd":
        world.delete(pod_path(name))
    world.advance(70)
    assert world.condition()["reason"] == EXPIRED


@pytest.mark.parametrize("text", ["-5", "soon", "1e3", "9" * 30])
def test_a_deadline_without_sense_is_named_and_holds_the_group(world: World, text: str) -> None:
    deadline(world, text)
    assert world.condition()["reason"] == "InvalidRequest"
    assert vocabulary.SCHEDULE_DEADLINE in world.condition()["message"]


def test_no_leader_starts_for_a_group_that_is_over(world: World) -> None:
    deadline(world, "60")
    world.advance(61)
    for name in "abcd":
        world.delete(pod_path(name))
    member(world, "driver", DRIVER, gpus=0)
    member(world, "a", EXECUTOR)
    assert world.gates("driver") == [vocabulary.GANG_GATE]


@pytest.mark.parametrize("restarts", [False, True])
def test_a_gang_that_releases_gives_up_what_is_left_for_good(world: World, restarts: bool) -> None:
    gang(world, "a", "b", "c", minimum=3, below="release")
    world.phase("c", "Failed")
    if restarts:
        world.restart()
    world.settle()
    assert (world.status()["phase"], world.condition()["reason"]) == ("Failed", RELEASED)
    assert world.condition()["message"] == "2 of 3 members were left"
    for name in ("a2", "b2", "c2"):
        world.pod(name)
    world.advance(60)
    assert set(world.bound()) == {"c"}
    note(world, vocabulary.BELOW_MINIMUM, "restart")
    world.advance(1)
    assert set(world.bound()) == {"c", "a2", "b2", "c2"}


def test_the_end_is_said_before_anybody_goes_and_done_when_it_could_not_be_at_once(world: World) -> None:
    gang(world, "a", "b", minimum=2, below="release")
    world.api.fails = lambda write: write.path.endswith("/eviction")
    world.phase("b", "Failed")
    world.advance(10)
    assert world.condition()["reason"] == RELEASED
    assert "a" in world.bound()
    world.api.fails = lambda write: False
    world.advance(2)
    assert "a" not in world.bound()
