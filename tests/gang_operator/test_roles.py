"""Gangs of several roles: where not all have room no role takes it all, and nobody starts without the head."""

import pytest

from gpuyard.writes import JSON
from tests.gang_operator.world import World, pod_path

TASK = "volcano.sh/task-spec"


@pytest.fixture
def world() -> World:
    found = World()
    for number in range(1, 5):
        found.node(f"node-{number}", gpus=1)
    return found


def gang(world: World, minimum: int, **roles: JSON) -> None:
    world.group(minMember=minimum)
    for name, labels in roles.items():
        world.pod(name, labels=labels)
    world.settle()


def test_no_role_takes_the_room_of_another(world: World) -> None:
    """G10: there is room for four of eight."""
    members = {f"{role}{n}": {TASK: role} for role in "ab" for n in range(4)}
    gang(world, 4, **members)
    assert set(world.bound()) == {"a0", "a1", "b0", "b1"}


@pytest.mark.parametrize("minimum", [3, 4])
def test_nobody_starts_without_the_head_that_is_there(world: World, minimum: int) -> None:
    """G10: workers that are enough, and have room, wait for it."""
    world.group(minMember=minimum)
    world.pod("head", gpus=2, labels={"ray.io/group": "headgroup", "ray.io/node-type": "head"})
    for number in range(4):
        world.pod(f"a-{number}", labels={"ray.io/group": "workers", "ray.io/node-type": "worker"})
    world.advance(60)
    assert (world.bound(), world.condition()["reason"]) == ({}, "GangUnplaceable")
    assert world.condition()["message"].startswith('pod "head" does not fit')


def test_a_head_that_comes_again_and_has_no_room_keeps_no_worker_from_joining(world: World) -> None:
    head, worker = ({"ray.io/group": kind, "ray.io/node-type": kind} for kind in ("head", "worker"))
    gang(world, 2, head=head, a=worker)
    world.phase("head", "Failed")
    world.pod("again", gpus=2, labels=head)
    world.pod("b", labels=worker)
    world.advance(1)
    assert {"a", "b"} <= set(world.bound())


def test_a_role_without_pods_is_forgotten(world: World) -> None:
    """G36: of the roles nothing is remembered but the pods."""
    gang(world, 3, a={TASK: "a"}, b={TASK: "b"})
    world.delete(pod_path("b"))
    for name in ("a1", "a2"):
        world.pod(name, labels={TASK: "a"})
    world.settle()
    assert set(world.bound()) == {"a", "a1", "a2"}


@pytest.mark.parametrize("index", ["10001", "x", ""])
def test_what_indices_say_changes_nothing(world: World, index: str) -> None:
    """G39; and a negative one is no label."""
    odd = {"training.kubeflow.org/replica-index": index, "batch.kubernetes.io/job-completion-index": index}
    gang(world, 2, a=odd, b=odd)
    assert set(world.bound()) == {"a", "b"}


def test_a_role_for_each_member_is_as_good_as_none(world: World) -> None:
    """G39: however many there are."""
    gang(world, 2, **{f"p{n:03}": {TASK: f"role-{n}"} for n in range(100)})
    assert len(world.bound()) == 4
