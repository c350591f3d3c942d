"""Many gangs, large gangs, gangs with luggage."""

import pytest

from gpuyard.groups.plans import PlanAnswer, PlanRequest
from gpuyard_operator.cache import PATHS
from gpuyard_operator.deciding.asking import RETRY_SECONDS
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


@pytest.mark.parametrize("seen", ["before it is answered", "after it is answered"])
def test_room_that_comes_while_a_gang_is_being_refused_is_not_missed(world: World, seen: str) -> None:
    """Long before a refusal is doubted by itself."""
    answer = world.answer

    def refuse_too_soon(request: PlanRequest) -> PlanAnswer:
        refusal = answer(request)
        if world.at(f"{PATHS['nodes']}/node-1") is None:
            world.node("node-1", gpus=2)
            while seen == "before it is answered" and world.deliver():
                pass
        return refusal

    world.answer = refuse_too_soon
    world.advance(RETRY_SECONDS)
    gang(world, "late", size=2)
    world.advance(RETRY_SECONDS / 2)
    assert bound_of(world, "late") == 2


def test_a_large_gang_without_room_does_not_hold_up_a_small_one_that_came_later(world: World) -> None:
    """G4."""
    world.node("node-1", gpus=2)
    gang(world, "large", size=3)
    world.settle()
    gang(world, "small", size=2)
    world.settle()
    assert (bound_of(world, "large"), bound_of(world, "small")) == (0, 2)


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


def test_of_two_gangs_whose_members_come_in_turns_one_has_all_and_the_other_holds_nothing(
    world: World,
) -> None:
    """G5: what has to start together is one group, and half of it never holds what others need."""
    world.node("node-1", gpus=3)
    for name in ("ab", "cd"):
        world.group(name, minMember=2)
    for member in ("ab-0", "cd-0", "ab-1", "cd-1"):
        world.pod(member, group=member[:2])
        world.settle()
        assert {bound_of(world, name) for name in ("ab", "cd")} <= {0, 2}
    assert (bound_of(world, "ab"), bound_of(world, "cd"), world.places("cd")) == (2, 0, None)


def test_of_two_replicas_with_a_group_each_no_leader_starts_without_its_workers(world: World) -> None:
    """G8: as LeaderWorkerSet makes them; the leaders alone would have room."""
    world.node("node-1", gpus=4)
    index = "leaderworkerset.sigs.k8s.io/worker-index"
    for replica in ("lws-0", "lws-1"):
        world.group(replica, minMember=3)
        world.pod(replica, group=replica, labels={index: "0"})
    for replica in ("lws-0", "lws-1"):
        for number in ("1", "2"):
            world.pod(f"{replica}-{number}", group=replica, labels={index: number})
    world.settle()
    assert set(world.bound()) == {"lws-0", "lws-0-1", "lws-0-2"}


def test_the_group_that_counts_is_the_one_that_its_client_makes_however_late(world: World) -> None:
    """G27: no other is made for members meanwhile."""
    world.node("node-1", gpus=4)
    for name in ("driver", "exec-1"):
        world.pod(name, group="spark")
    world.advance(60)
    assert (world.bound(), world.api.writes) == ({}, [])
    world.group("spark", minMember=3)
    world.advance(60)
    assert world.bound() == {}
    world.pod("exec-2", group="spark")
    world.settle()
    assert set(world.bound()) == {"driver", "exec-1", "exec-2"}
