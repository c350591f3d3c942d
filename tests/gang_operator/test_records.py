"""Where PodGroups keep no conditions their Reservations say the same, and remember it."""

import pytest

from gpuyard.groups import reservations
from gpuyard.writes import JSON
from tests.gang_operator.world import World, group_path, pod_path


@pytest.fixture
def world() -> World:
    found = World()
    found.keep_conditions(False)
    found.node("node-1", gpus=1)
    found.group(minMember=2)
    return found


def start(world: World) -> None:
    world.node("node-2", gpus=1)
    for pod in "ab":
        world.pod(pod)
    world.settle()


def record(world: World) -> JSON:
    found = world.at(reservations.path("default", "ring"))
    assert found is not None
    return found


def test_what_a_gang_waits_for_is_said_by_its_reservation(world: World) -> None:
    """G46."""
    world.settle()
    for pod in "ab":
        world.pod(pod)
        world.settle()
    assert ("conditions" in world.status(), world.status()["phase"]) == (False, "Scheduling")
    assert {c["type"]: c["status"] for c in record(world)["status"]["conditions"]} == {
        "Scheduled": "False",
        "Admitted": "False",
        "Unschedulable": "True",
        "Ready": "False",
    }
    world.node("node-2", gpus=1)
    world.advance(1)
    assert set(world.bound()) == {"a", "b"}
    assert (record(world)["spec"]["seats"], world.condition()["status"]) == ([], "True")


@pytest.mark.parametrize("restarts", [False, True])
def test_a_gang_outlives_its_members(world: World, restarts: bool) -> None:
    start(world)
    world.delete(pod_path("b"))
    if restarts:
        world.restart()
    world.advance(60)
    assert set(world.bound()) == {"a"}
    world.pod("b2")
    world.settle()
    assert set(world.bound()) == {"a", "b2"}


def test_nothing_is_written_for_a_group_about_which_there_is_nothing_new(world: World) -> None:
    world.pod("a")
    world.settle()
    written = len(world.api.writes)
    for number in range(20):
        world.api.patch(pod_path("a"), {"metadata": {"annotations": {"note": str(number)}}})
        world.settle()
    world.restart()
    world.settle()
    assert len(world.api.writes) == written


def test_a_status_that_changes_lets_nobody_ask_again_for_room(world: World) -> None:
    """Only places that are given up are room."""
    for pod in "ab":
        world.pod(pod)
    world.advance(5)
    asked = len(world.questions)
    world.group("other", minMember=3)
    for name in ("c", "d"):
        world.pod(name, group="other")
        world.advance(1)
    assert len(world.questions) == asked


def test_places_that_are_given_up_are_room_for_others(world: World) -> None:
    world.binds_refused.update("ab")
    start(world)
    world.group("other", minMember=2)
    for name in ("c", "d"):
        world.pod(name, group="other")
    world.advance(5)
    assert (world.bound(), world.condition(name="other")["reason"]) == ({}, "GangUnplaceable")
    world.delete(pod_path("b"))
    world.advance(1)
    assert set(world.bound()) == {"c", "d"}


def test_the_record_of_a_namesake_before_it_is_dropped(world: World) -> None:
    world.pod("a")
    world.settle()
    world.delete(group_path())
    world.group(minMember=1)
    world.advance(1)
    assert set(world.bound()) == {"a"}
    assert world.condition()["status"] == "True"


def test_once_groups_keep_their_conditions_no_record_is_left(world: World) -> None:
    world.pod("a")
    world.settle()
    assert record(world)["spec"]["seats"] == []
    world.keep_conditions(True)
    world.node("node-2", gpus=1)
    world.pod("b")
    world.settle()
    assert (set(world.bound()), world.at(reservations.path("default", "ring"))) == ({"a", "b"}, None)
    assert [c["type"] for c in world.status()["conditions"]] == [
        "Scheduled",
        "Admitted",
        "Unschedulable",
        "Ready",
    ]
