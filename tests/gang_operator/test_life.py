"""Gangs after their start: members that fail, are replaced, added, removed."""

import pytest

from gpuyard import vocabulary
from tests.gang_operator.world import World, group_path, pod_path


@pytest.fixture
def world() -> World:
    found = World()
    for number in range(1, 5):
        found.node(f"node-{number}", gpus=1)
    return found


def gang(world: World, *pods: str, minimum: int = 2, below: str = "") -> None:
    world.group(minMember=minimum)
    if below:
        mark = {"annotations": {vocabulary.BELOW_MINIMUM: below}}
        world.api.patch(group_path(), {"metadata": mark})
    for pod in pods:
        world.pod(pod)
    world.settle()
    for pod in world.bound():
        world.phase(pod, "Running")
    world.settle()


def evictions(world: World) -> list[str]:
    return [write.path for write in world.api.writes if write.path.endswith("/eviction")]


@pytest.mark.parametrize("below", ["", "wait", "nonsense"])
def test_below_its_minimum_a_gang_keeps_what_it_has_and_waits_for_replacements(
    world: World, below: str
) -> None:
    gang(world, "a", "b", "c", minimum=3, below=below)
    world.phase("c", "Failed")
    world.advance(120)
    assert evictions(world) == []
    world.pod("c2")
    world.settle()
    assert {"a", "b", "c2"} <= set(world.bound())


def test_a_gang_that_wants_to_restart_does_so_as_a_whole(world: World) -> None:
    gang(world, "a", "b", "c", minimum=3, below="restart")
    world.phase("c", "Failed")
    world.settle()
    assert set(world.bound()) == {"c"}
    for name in ("a2", "b2"):
        world.pod(name)
    world.advance(60)
    assert set(world.bound()) == {"c"}
    world.pod("c2")
    world.settle()
    assert set(world.bound()) == {"c", "a2", "b2", "c2"}


def test_members_that_finish_do_not_make_a_gang_restart(world: World) -> None:
    """G16, G17."""
    gang(world, "a", "b", "c", minimum=3, below="restart")
    world.phase("a", "Succeeded")
    world.phase("b", "Succeeded")
    world.advance(60)
    assert evictions(world) == []


def test_a_failure_beyond_the_quorum_does_not_make_a_gang_restart(world: World) -> None:
    gang(world, "a", "b", "c", below="restart")
    world.phase("c", "Failed")
    world.advance(60)
    assert evictions(world) == []


def test_a_restart_waits_where_a_disruption_budget_wants_it_to(world: World) -> None:
    gang(world, "a", "b", below="restart")
    world.api.fails = lambda write: write.path.endswith("/eviction")
    world.phase("b", "Failed")
    world.advance(10)
    assert "a" in world.bound()
    assert 10 <= len(evictions(world)) <= 13
    world.api.fails = lambda write: False
    world.advance(2)
    assert "a" not in world.bound()


def test_a_gang_that_is_scaled_up_takes_late_members_one_by_one(world: World) -> None:
    """G35, G37."""
    gang(world, "a", "b")
    world.pod("c")
    world.settle()
    world.api.patch(group_path(), {"spec": {"minMember": 4}})
    world.pod("d")
    world.settle()
    assert set(world.bound()) == {"a", "b", "c", "d"}


def test_a_minimum_that_is_lowered_to_what_exists_lets_the_gang_go(world: World) -> None:
    """G35."""
    gang(world, "a", "b", minimum=3)
    assert world.condition()["message"] == "2/3 pods present"
    world.advance(3600)
    assert world.bound() == {}
    world.api.patch(group_path(), {"spec": {"minMember": 2}})
    world.settle()
    assert set(world.bound()) == {"a", "b"}


def test_a_group_that_comes_again_is_another_group(world: World) -> None:
    """G28: 1, 0, 1 replicas."""
    gang(world, "a", "b")
    world.delete(group_path())
    for name in "ab":
        world.delete(pod_path(name))
    world.pod("a")
    world.group(minMember=2)
    world.settle()
    assert world.bound() == {}
    world.pod("b")
    world.settle()
    assert set(world.bound()) == {"a", "b"}
    assert world.condition()["status"] == "True"


def test_a_member_whose_node_is_lost_is_replaced_beside_its_siblings(world: World) -> None:
    """G21: it may terminate without end, for its kubelet is dead."""
    gang(world, "a", "b")
    world.api.patch(pod_path("b"), {"metadata": {"finalizers": ["example.com/stuck"]}})
    world.delete(pod_path("b"))
    world.delete("/api/v1/nodes/node-2")
    world.pod("b2")
    world.settle()
    assert {"a", "b2"} <= set(world.bound())
    assert evictions(world) == []
