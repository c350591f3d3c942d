import itertools

import pytest

from tests.cluster.controllers.world import World


def filled(world: World, *names: str, finalizers: list[str] | None = None) -> None:
    world.create("namespaces", "n")
    for name in names:
        world.create("configmaps", name, namespace="n", finalizers=finalizers or [])
    world.settle()


def test_a_namespace_goes_with_everything_in_it() -> None:
    world = World()
    filled(world, "a", "b")
    world.create("configmaps", "kept")
    world.delete("namespaces/n")
    world.settle()
    assert (world.get("namespaces/n"), world.get("namespaces/n/configmaps/a")) == (None, None)
    assert world.get("namespaces/default/configmaps/kept") is not None


def test_a_namespace_waits_for_what_is_held_and_says_so() -> None:
    world = World()
    filled(world, "held", finalizers=["example.com/hold"])
    world.delete("namespaces/n")
    world.settle(5)
    namespace = world.get("namespaces/n")
    assert namespace is not None
    conditions = {entry["type"]: entry["message"] for entry in namespace["status"]["conditions"]}
    assert "configmaps has 1 resource instances" in conditions["NamespaceContentRemaining"]
    assert "example.com/hold in 1 resource instances" in conditions["NamespaceFinalizersRemaining"]
    before = world.api.writes
    world.settle(5)
    again = world.get("namespaces/n")
    assert again is not None
    assert again["metadata"]["resourceVersion"] == namespace["metadata"]["resourceVersion"]
    assert world.api.writes > before, "it goes on deleting"
    world.merge("namespaces/n/configmaps/held", {"finalizers": None})
    world.settle(1)
    assert world.get("namespaces/n") is None


def test_nothing_waits_on_the_clock_while_no_namespace_is_leaving() -> None:
    world = World()
    filled(world, "a")
    world.settle()
    assert world.steps.next_at() is None


@pytest.mark.parametrize("forgetful", [False, True])
def test_any_write_may_fail_and_memory_may_be_lost(forgetful: bool) -> None:
    for failing in itertools.count(1):
        world = World()
        filled(world, "a")
        world.api.failing, world.api.forgetful = {failing}, forgetful
        world.delete("namespaces/n")
        world.settle(5)
        assert world.get("namespaces/n") is None
        if world.api.writes < failing:
            break
