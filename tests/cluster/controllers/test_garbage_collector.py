import itertools

import pytest

from gpuyard.writes import Write
from gpuyard_cluster.controllers.garbage_collector import GarbageCollector
from tests.cluster.controllers.world import RESOURCES, World, reference

HOLD = ["example.com/hold"]
CHILD, PARENT = "namespaces/default/secrets/child", "namespaces/default/configmaps/parent"


@pytest.fixture
def world() -> World:
    return World()


def family(world: World, **child: object) -> None:
    parent = world.create("configmaps", "parent")
    world.create("secrets", "child", parent, **child)
    world.settle()


def test_dependents_follow_their_owner(world: World) -> None:
    family(world)
    world.delete(PARENT)
    world.settle()
    assert world.get(CHILD) is None


def test_a_dependent_lives_while_one_owner_does_and_forgets_the_other(world: World) -> None:
    first, second = world.create("configmaps", "first"), world.create("configmaps", "second")
    world.create("secrets", "child", first, second)
    world.settle()
    world.delete("namespaces/default/configmaps/first")
    world.settle()
    child = world.get(CHILD)
    assert child is not None
    assert [owner["name"] for owner in child["metadata"]["ownerReferences"]] == ["second"]
    world.delete("namespaces/default/configmaps/second")
    world.settle()
    assert world.get(CHILD) is None


def test_a_dependent_that_came_after_its_owner_went_is_collected(world: World) -> None:
    parent = world.create("configmaps", "parent")
    world.delete(PARENT)
    world.create("secrets", "child", parent)
    world.settle()
    assert world.get(CHILD) is None


def test_an_owner_of_the_same_name_is_another_owner(world: World) -> None:
    parent = world.create("configmaps", "parent")
    world.delete(PARENT)
    world.create("configmaps", "parent")
    world.create("secrets", "child", parent)
    world.settle()
    assert world.get(CHILD) is None


@pytest.mark.parametrize(
    "owner",
    [{"kind": "Service", "name": "kept"}, {"kind": "Gadget", "apiVersion": "x.y/v1", "name": "unknown"}],
)
def test_an_owner_that_is_not_watched_is_asked_for(world: World, owner: dict[str, str]) -> None:
    service = world.send(
        Write(
            "POST",
            "/api/v1/namespaces/default/services",
            {"metadata": {"name": "kept"}, "spec": {"ports": [{"port": 80}]}},
        )
    )
    named = {**reference(service), **owner}
    body = {"metadata": {"name": "child", "ownerReferences": [named]}}
    world.send(Write("POST", "/api/v1/namespaces/default/secrets", body))
    world.settle()
    assert world.get(CHILD) is not None


def test_foreground_keeps_the_owner_until_its_dependents_are_gone(world: World) -> None:
    family(world, finalizers=HOLD)
    world.delete(PARENT, "Foreground")
    world.settle(5)
    parent, child = world.get(PARENT), world.get(CHILD)
    assert parent is not None
    assert child is not None
    assert child["metadata"]["deletionTimestamp"]
    world.merge(CHILD, {"finalizers": None})
    world.settle()
    assert (world.get(PARENT), world.get(CHILD)) == (None, None)


def test_foreground_reaches_grandchildren_first(world: World) -> None:
    parent = world.create("configmaps", "parent")
    child = world.create("secrets", "child", parent)
    world.create("secrets", "grandchild", child, finalizers=HOLD)
    world.settle()
    world.delete(PARENT, "Foreground")
    world.settle()
    assert world.get(CHILD) is not None
    world.merge("namespaces/default/secrets/grandchild", {"finalizers": None})
    world.settle()
    assert (world.get(PARENT), world.get(CHILD)) == (None, None)


def test_orphans_stay_without_the_reference(world: World) -> None:
    family(world)
    world.delete(PARENT, "Orphan")
    world.settle()
    child = world.get(CHILD)
    assert world.get(PARENT) is None
    assert child is not None
    assert "ownerReferences" not in child["metadata"]


@pytest.mark.parametrize("policy", ["Background", "Foreground", "Orphan"])
@pytest.mark.parametrize("forgetful", [False, True])
def test_any_write_may_fail_and_memory_may_be_lost(policy: str, forgetful: bool) -> None:
    for failing in itertools.count(1):
        world = World()
        parent = world.create("configmaps", "parent")
        for name in ("a", "b"):
            world.create("secrets", name, parent)
        world.settle()
        world.api.failing, world.api.forgetful = {failing}, forgetful
        world.delete(PARENT, policy)
        world.settle(5)
        left = [world.get(f"namespaces/default/secrets/{name}") for name in ("a", "b")]
        assert world.get(PARENT) is None
        assert all((secret is not None) == (policy == "Orphan") for secret in left)
        if world.api.writes < failing:
            break


def test_nothing_is_collected_before_all_dependents_can_be_known(world: World) -> None:
    parent = world.create("configmaps", "parent")
    child = world.create("secrets", "child", parent, finalizers=HOLD)
    world.settle()
    world.stop()
    parent = world.delete(PARENT, "Foreground")
    collector = GarbageCollector(world.kubectl, world.steps, RESOURCES)
    collector.start()
    for resource, objects in (("configmaps", [parent]), ("pods", [])):
        collector.replace(resource, objects)
        world.settle()
    assert world.get(PARENT) is not None
    collector.replace("secrets", [child])
    world.settle()
    assert world.get(PARENT) is not None
    collector.observe("secrets", "DELETED", child)
    world.settle()
    assert world.get(PARENT) is None
