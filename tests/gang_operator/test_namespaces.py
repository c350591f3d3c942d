"""Namespaces that are deleted with gangs in them: content goes in any order, and nothing new is let in meanwhile."""

import pytest

from gpuyard.groups import reservations
from gpuyard_operator.cache import PATHS
from tests.gang_operator.world import World, group_path, pod_path

BLUE = "/api/v1/namespaces/blue"
STAGES = {"waits for members": "a", "has places": "", "is half bound": "b", "runs": "ab"}
"""Who of two is bound, or there."""


def gang(world: World, namespace: str = "blue") -> None:
    world.group(namespace=namespace, minMember=2)
    for name in "ab":
        world.pod(name, namespace=namespace)
    world.settle()


@pytest.fixture(params=STAGES)
def world(request: pytest.FixtureRequest) -> World:
    """Two GPUs, and a gang of two in a namespace of its own."""
    found = World()
    found.node("node-1", gpus=2)
    found.binds_refused.update(set("ab") - set(STAGES[request.param]))
    if request.param == "waits for members":
        found.group(namespace="blue", minMember=2)
        found.pod("a", namespace="blue")
    else:
        gang(found)
        assert set(found.bound()) == set(STAGES[request.param])
    found.settle()
    return found


def clear(world: World, kind: str) -> None:
    """As the namespace controller does: all of a kind, and what is gone by itself is no matter."""
    paths = {
        "pods": [pod_path(name, "blue") for name in "ab"],
        "group": [group_path("ring", "blue")],
        "reservation": [reservations.path("blue", "ring")],
    }
    for path in paths[kind]:
        if world.at(path) is not None:
            world.delete(path)
        world.advance(0.5)


ORDERS = [
    ("pods", "group", "reservation"),
    ("reservation", "pods", "group"),
    ("group", "reservation", "pods"),
]


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
def test_a_gang_goes_with_its_namespace_and_leaves_nothing(world: World, order: tuple[str, ...]) -> None:
    world.delete(BLUE)
    for kind in order:
        clear(world, kind)
    world.advance(2)
    assert world.api.list(PATHS["reservations"]) == world.api.list(PATHS["pods"]) == []
    before = len(world.api.writes)
    world.advance(120)
    assert world.api.writes[before:] == []

    world.binds_refused.clear()
    gang(world, "red")
    assert set(world.bound()) == set("ab")


def test_a_namespace_of_the_same_name_is_another(world: World) -> None:
    world.delete(BLUE)
    for kind in ORDERS[2]:
        clear(world, kind)
    empty = world.at(BLUE)
    assert empty is not None
    world.api.put(f"{BLUE}/finalize", {**empty, "spec": {"finalizers": []}})
    world.api.create("/api/v1/namespaces", {"metadata": {"name": "blue"}})
    world.binds_refused.clear()
    gang(world)
    world.advance(1)
    assert set(world.bound()) == set("ab")
    assert world.condition(namespace="blue")["reason"] == "GangScheduled"
