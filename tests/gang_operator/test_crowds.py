"""Many gangs, large gangs, gangs with luggage."""

import pytest

from gpuyard_operator.cache import PATHS
from tests.gang_operator.world import World, group_path


@pytest.fixture
def world() -> World:
    return World()


def gang(world: World, name: str, size: int, gpus: int = 1) -> None:
    world.group(name, minMember=size)
    for number in range(size):
        world.pod(f"{name}-{number}", gpus=gpus, group=name)


def bound_of(world: World, name: str) -> int:
    return sum(pod.startswith(f"{name}-") for pod in world.bound())


def test_gangs_that_want_more_than_there_is_go_one_after_the_other_and_none_in_part(world: World) -> None:
    """G1: interleaved holders would wait for each other without end."""
    for node in ("node-1", "node-2"):
        world.node(node, gpus=4)
    names = [f"g{number}" for number in range(6)]
    for name in names:
        gang(world, name, size=3, gpus=2)
    for _ in names:
        world.advance(31)
        assert {bound_of(world, name) for name in names} <= {0, 3}
        running = [pod for pod in world.api.list(PATHS["pods"]) if pod["status"]["phase"] == "Pending"]
        for pod in running:
            if "nodeName" in pod["spec"]:
                world.phase(pod["metadata"]["name"], "Succeeded")
    world.advance(31)
    assert [bound_of(world, name) for name in names] == [3] * 6


def test_a_large_gang_without_room_does_not_hold_up_a_small_one_that_came_later(world: World) -> None:
    """G4."""
    world.node("node-1", gpus=2)
    gang(world, "large", size=3)
    world.settle()
    gang(world, "small", size=2)
    world.settle()
    assert (bound_of(world, "large"), bound_of(world, "small")) == (0, 2)


def test_the_writes_for_a_gang_grow_with_its_members_and_not_with_their_square(world: World) -> None:
    """G45, G59: two for each member, and a few for the group."""
    world.node("node-1", gpus=40)
    gang(world, "ring", size=40)
    world.settle()
    assert bound_of(world, "ring") == 40
    assert len(world.api.writes) <= 2 * 40 + 6


def test_the_pods_of_a_large_gang_are_taken_in_together(world: World) -> None:
    """Each look is at all members: one for each event of 512 would be a quarter of a million."""
    size = 130
    world.node("node-1", gpus=size)
    gang(world, "ring", size)
    world.advance(1)
    assert bound_of(world, "ring") == size
    assert world.operator.tally.reconciles <= 40
    assert len(world.api.writes) <= 2 * size + 20


def test_a_gang_that_has_started_is_not_looked_at_again_because_others_start(world: World) -> None:
    """2,000 that start one after the other would be looked at millions of times."""
    looks = []
    for first, last in ((0, 3), (3, 15)):
        before = world.operator.tally.reconciles
        for number in range(first, last):
            world.node(f"node-{number:02}", gpus=2)
            gang(world, f"g{number:02}", size=2)
            world.settle()
        looks.append((world.operator.tally.reconciles - before) / (last - first))
    assert len(world.bound()) == 2 * 15
    assert looks[1] <= looks[0]


def test_a_group_with_all_the_luggage_that_an_object_may_carry_is_served(world: World) -> None:
    """G57: clients copy the annotations of their jobs; together with ours they must not become too many."""
    world.node("node-1", gpus=2)
    world.group(minMember=2)
    luggage = {"example.com/job": "x" * 250_000}
    world.api.patch(group_path(), {"metadata": {"annotations": luggage}})
    for pod in "ab":
        world.pod(pod)
    world.settle()
    assert set(world.bound()) == {"a", "b"}
    group = world.at(group_path())
    assert group is not None
    assert group["metadata"]["annotations"] == luggage


def test_what_clients_say_of_the_resources_of_a_gang_is_not_believed(world: World) -> None:
    """G38: they write it inconsistently with their pods."""
    world.node("node-1", gpus=2)
    world.group(minMember=2, minResources={"nvidia.com/gpu": "1000", "cpu": "0"})
    for pod in "ab":
        world.pod(pod)
    world.settle()
    assert set(world.bound()) == {"a", "b"}


def test_nothing_of_a_gang_is_kept_from_being_deleted(world: World) -> None:
    """G48: who needs no finalizer leaves nobody terminating for ever."""
    world.node("node-1", gpus=2)
    gang(world, "ring", size=2)
    world.settle()
    objects = [obj for resource in PATHS for obj in world.api.list(PATHS[resource])]
    assert not any(obj["metadata"].get("finalizers") for obj in objects)
