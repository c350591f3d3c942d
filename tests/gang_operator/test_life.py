"""Gangs after their start: members that fail, are replaced, added, removed."""

import pytest

from gpuyard import vocabulary
from tests.gang_operator.world import World, group_path, node_path, pod_path


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


def told_to_go(world: World, *pods: str) -> None:
    """They take their time to end."""
    for pod in pods:
        world.api.patch(pod_path(pod), {"metadata": {"finalizers": ["example.com/stuck"]}})
        world.delete(pod_path(pod))


def gone(world: World, *pods: str) -> None:
    """As kubelets do it: containers fail that are told to end."""
    for pod in pods:
        world.phase(pod, "Failed")
        world.settle()
        world.api.patch(pod_path(pod), {"metadata": {"finalizers": []}})
        world.settle()


@pytest.mark.parametrize("seconds", [0.0, 0.5])
@pytest.mark.parametrize("below", ["wait", "restart", "release"])
def test_a_gang_whose_owner_is_suspended_starts_as_a_whole_when_it_goes_on(
    world: World, below: str, seconds: float
) -> None:
    """A Job tells one pod after the other to go; nothing of it has failed, or has come to an end."""
    gang(world, "a", "b", "c", minimum=3, below=below)
    for name in "abc":
        if name in world.bound():
            told_to_go(world, name)
        world.advance(seconds)
    gone(world, *world.bound())
    world.advance(60)
    assert (world.bound(), world.status()["phase"]) == ({}, "Pending")
    assert (world.condition()["status"], world.condition()["message"]) == ("False", "0/3 pods present")
    for name in ("a2", "b2"):
        world.pod(name)
    world.advance(60)
    assert world.bound() == {}
    world.pod("c2")
    world.advance(1)
    assert set(world.bound()) == {"a2", "b2", "c2"}


@pytest.mark.parametrize("stage", ["gated", "reserved"])
def test_a_gang_may_be_suspended_before_it_has_started(world: World, stage: str) -> None:
    if stage == "reserved":
        world.binds_refused.update("abc")
    gang(world, *"abc" if stage == "reserved" else "ab", minimum=3)
    assert (world.places() is not None) == (stage == "reserved")
    for name in "abc":
        if world.at(pod_path(name)) is not None:
            world.delete(pod_path(name))
            world.settle()
    world.advance(30)
    assert world.places() is None
    for name in ("a2", "b2", "c2"):
        world.pod(name)
    world.advance(1)
    assert set(world.bound()) == {"a2", "b2", "c2"}


@pytest.mark.parametrize(("below", "left"), [("wait", {"a"}), ("restart", set()), ("release", set())])
def test_a_member_that_ends_never_keeps_the_others_from_what_their_group_wishes(
    world: World, below: str, left: set[str]
) -> None:
    """G21: its kubelet is silent, and the node is there."""
    gang(world, "a", "b", below=below)
    told_to_go(world, "b")
    silent = {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}
    world.api.patch(f"{node_path('node-2')}/status", silent)
    world.advance(3)
    assert world.bound().keys() - {"b"} == left
    assert world.status()["phase"] == {"wait": "Running", "restart": "Pending", "release": "Failed"}[below]
    for name in ("a2", "b2"):
        world.pod(name)
    world.advance(60)
    started = {"wait": {"a2", "b2"}, "restart": {"a2", "b2"}, "release": set()}[below]
    assert world.bound().keys() - {"b"} - left == started
    assert world.bound()["b"] == "node-2"


@pytest.mark.parametrize("kept", [True, False], ids=["", "elsewhere"])
def test_whoever_was_never_placed_is_told_from_whoever_is_below_its_minimum(kept: bool) -> None:
    """G23: by two conditions, and by how long each has been so."""
    world = World()
    world.keep_conditions(kept)

    def said() -> tuple[str, str]:
        return world.condition()["status"], world.condition("Ready")["status"]

    world.group(minMember=2)
    for name in "ab":
        world.pod(name)
    world.advance(1)
    assert said() == ("False", "False")
    for number in (1, 2):
        world.node(f"node-{number}", gpus=1)
    world.advance(1)
    for name in "ab":
        world.phase(name, "Running")
    world.advance(1)
    assert said() == ("True", "True")
    since = world.condition()["lastTransitionTime"]
    world.phase("b", "Failed")
    world.advance(60)
    assert said() == ("True", "False")
    assert world.condition("Ready")["message"] == "1/2 members run or have succeeded"
    assert world.condition()["lastTransitionTime"] == since
    world.pod("b2")
    world.advance(1)
    world.phase("b2", "Running")
    world.advance(1)
    assert said() == ("True", "True")
