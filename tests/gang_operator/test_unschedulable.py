"""Who was refused looks again, in its turn, when there may be room for it: not every group at every change."""

import contextlib
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from gpuyard import vocabulary
from gpuyard.groups.plans import PlanAnswer, PlanRequest, Unplaceable
from gpuyard.groups.reservations import Reservation, Seat
from gpuyard.verdicts import Reason, Rejection
from gpuyard_kube.store import Change
from gpuyard_operator.deciding.asking import RETRY_SECONDS, SETTLE_SECONDS
from gpuyard_operator.objects import nodes, pods
from gpuyard_operator.room import demands
from gpuyard_operator.room.headroom import Headroom
from gpuyard_operator.unschedulable import A_SECOND, FEW, LOOK_SECONDS
from tests.gang_operator.world import World, group_path, node_path, pod_path

GPUS = 8
AT_ONCE = 0.1
"""Later it may be asked what else to tell people (`test_outdated`)."""


def partitions(whole: int, most: int) -> list[list[int]]:
    """All ways to divide so many GPUs among members: gangs of which no two are alike."""
    if not whole:
        return [[]]
    firsts = range(min(whole, most), 0, -1)
    return [[first, *rest] for first in firsts for rest in partitions(whole - first, first)]


@pytest.fixture
def world() -> World:
    return urgently(World(preempts=False))


def urgently(world: World) -> World:
    """With a class of pods that go before others."""
    classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
    world.api.create(classes, {"metadata": {"name": "urgent"}, "value": 10})
    return world


def gang(world: World, name: str, members: list[int], **fields: Any) -> None:
    world.group(name, minMember=len(members))
    for number, gpus in enumerate(members):
        world.pod(f"{name}-{number}", gpus, name, **fields)


def full(world: World, name: str = "node-1", gpus: int = GPUS) -> None:
    """A node whose GPUs somebody holds, one each."""
    world.node(name, gpus)
    for number in range(gpus):
        world.pod(f"{name}-{number}", group="")
        world.bind(f"{name}-{number}", name)
    world.advance(1)


def end(world: World, name: str) -> None:
    """All pods of this gang, or on this node, end."""
    for pod in [pod for pod in world.bound() if pod.rpartition("-")[0] == name]:
        world.phase(pod, "Succeeded")


def running(world: World) -> set[str]:
    pods = (world.at(pod_path(name)) for name in world.bound())
    return {
        pod["metadata"]["name"].rpartition("-")[0]
        for pod in pods
        if pod and pod["status"]["phase"] == "Pending"
    }


def asked(world: World, seconds: float = SETTLE_SECONDS + 1) -> Counter[str]:
    """Who asks for places within that time, and how often."""
    world.questions.clear()
    world.advance(seconds)
    return Counter(question.group for question in world.questions)


def test_gangs_unlike_each_other_that_start_one_by_one_ask_about_as_often_as_there_are_gangs(
    world: World,
) -> None:
    full(world)
    shapes = {f"g{number:02}": members for number, members in enumerate(partitions(GPUS, GPUS))}
    for name, members in shapes.items():
        gang(world, name, members)
        world.advance(1)
    names, order, before = [*shapes], list[str](), "node-1"
    world.questions.clear()
    for _ in names:
        end(world, before)
        world.advance(1)
        [before] = running(world)
        order.append(before)
    assert order == names, "the oldest first"
    assert len(world.questions) <= 2 * len(names)


def test_the_more_urgent_one_looks_first(world: World) -> None:
    full(world)
    gang(world, "early", [8])
    gang(world, "urgent", [4, 4], priorityClassName="urgent")
    assert asked(world) == {"early": 1, "urgent": 1}
    end(world, "node-1")
    world.advance(1)
    assert running(world) == {"urgent"}


def test_what_is_freed_bit_by_bit_is_asked_for_when_it_is_enough(world: World) -> None:
    full(world)
    gang(world, "pair", [2, 2])
    asked(world)
    for number in range(3):
        world.phase(f"node-1-{number}", "Succeeded")
        assert asked(world, AT_ONCE) == {}
    world.phase("node-1-3", "Succeeded")
    assert asked(world) == {"pair": 1}
    assert "pair" in running(world)


def test_many_small_remnants_are_no_room_for_large_members(world: World) -> None:
    for number in range(4):
        full(world, f"node-{number}", 4)
    gang(world, "large", [4, 4])
    asked(world)
    for number in range(4):
        world.phase(f"node-{number}-0", "Succeeded")
    for name in ("node-0", "node-1"):
        assert asked(world, AT_ONCE) == {}
        end(world, name)
    assert asked(world) == {"large": 1}


def test_room_where_a_gang_may_not_go_is_none(world: World) -> None:
    full(world)
    full(world, "node-2")
    world.api.patch(node_path("node-2"), {"metadata": {"labels": {"pool": "other"}}})
    gang(world, "choosy", [8], nodeSelector={"pool": "mine"})
    asked(world)
    end(world, "node-2")
    assert asked(world) == {}
    world.api.patch(node_path("node-2"), {"metadata": {"labels": {"pool": "mine"}}})
    assert asked(world) == {"choosy": 1}


def test_room_in_several_racks_is_none_for_a_gang_that_is_to_be_in_one(world: World) -> None:
    for number, rack in enumerate("aabb"):
        full(world, f"node-{number}", 1)
        world.api.patch(node_path(f"node-{number}"), {"metadata": {"labels": {vocabulary.RACK: rack}}})
    gang(world, "near", [1, 1])
    wish = {vocabulary.TOPOLOGY: "same-rack"}
    world.api.patch(group_path("near"), {"metadata": {"annotations": wish}})
    asked(world)
    for number in (0, 2):
        end(world, f"node-{number}")
    assert asked(world, AT_ONCE) == {}
    end(world, "node-3")
    assert asked(world) == {"near": 1}


def test_an_elastic_gang_looks_when_there_is_room_for_as_many_as_it_needs(world: World) -> None:
    full(world)
    world.group("elastic", minMember=2)
    for number in range(4):
        world.pod(f"elastic-{number}", 2, "elastic")
    asked(world)
    for number in range(4):
        world.phase(f"node-1-{number}", "Succeeded")
    world.advance(1)
    assert sum(name.startswith("elastic") for name in world.bound()) == 2


def test_whom_no_node_suits_looks_again_only_when_nodes_have_changed(world: World) -> None:
    full(world)
    world.answer = refuse(Reason.GPU_MODEL_MISMATCH)
    gang(world, "wishful", [1])
    asked(world)
    end(world, "node-1")
    assert asked(world) == {}
    world.node("node-2", 1)
    assert asked(world)["wishful"] >= 1


def test_more_than_all_nodes_have_is_no_matter_where_fewer_need_to_start(world: World) -> None:
    full(world)
    world.answer = refuse(
        Reason.INSUFFICIENT_GPUS, Rejection("", Reason.INSUFFICIENT_GPUS, "more than all have")
    )
    for name, needed in (("some", 1), ("all", 3)):
        world.group(name, minMember=needed)
        for number in range(3):
            world.pod(f"{name}-{number}", 1, name)
    asked(world)
    end(world, "node-1")
    assert asked(world, AT_ONCE).keys() == {"some"}


def test_who_could_make_others_go_looks_whatever_is_free() -> None:
    world = urgently(World())
    full(world)
    gang(world, "urgent", [8], priorityClassName="urgent")
    asked(world)
    world.phase("node-1-0", "Succeeded")
    assert asked(world).keys() == {"urgent"}


def test_those_that_are_refused_for_their_shape_let_the_next_ones_look_until_all_have(world: World) -> None:
    """Sums say that there is room for each; it is the extender that knows better."""
    full(world)
    world.answer = refuse(Reason.TOPOLOGY_UNSATISFIED)
    names = [f"g{number:02}" for number in range(24)]
    for name in names:
        gang(world, name, [8])
    asked(world)
    end(world, "node-1")
    assert asked(world, 0.1) == dict.fromkeys(names, 1)


def test_many_that_are_refused_for_their_shape_do_not_ask_all_the_time(world: World) -> None:
    full(world)
    world.answer = refuse(Reason.TOPOLOGY_UNSATISFIED)
    names = [f"g{number:03}" for number in range(3 * FEW)]
    for name in names:
        gang(world, name, [1])
    asked(world)
    world.questions.clear()
    for number in range(GPUS):
        world.phase(f"node-1-{number}", "Succeeded")
        world.advance(0.5)
    seconds = GPUS * 0.5
    assert len(world.questions) <= A_SECOND * seconds + 2 * len(names)
    assert asked(world, RETRY_SECONDS).keys() == {*names}, "and none is forgotten"


def test_what_a_node_offers_anew_is_told_though_it_is_not_enough(world: World) -> None:
    world.node("node-1", 0)
    gang(world, "pair", [2, 2])
    assert asked(world) == {"pair": 1}
    world.api.patch(f"{node_path('node-1')}/status", {"status": {"allocatable": {vocabulary.GPU: "2"}}})
    assert asked(world)["pair"] >= 1


def test_a_node_that_changes_while_the_extender_answers_is_asked_about_again(world: World) -> None:
    world.node("node-1", 0)
    slowly(world, 0.5)
    gang(world, "pair", [2, 2])
    world.advance(0.2)
    world.api.patch(f"{node_path('node-1')}/status", {"status": {"allocatable": {vocabulary.GPU: "2"}}})
    assert asked(world, 5)["pair"] >= 2


def by_shape(world: World, fits: str) -> None:
    """Whoever asks is refused for its shape, but for one."""
    by_counts, by_shapes = world._by_counts, refuse(Reason.TOPOLOGY_UNSATISFIED)
    world.answer = lambda request: (by_counts if request.group == fits else by_shapes)(request)


def slowly(world: World, seconds: float) -> None:
    """The extender takes so long for each answer."""
    plan = world.plan

    async def slow(request: PlanRequest) -> PlanAnswer:
        await world.clock.sleep_until(world.clock.now() + seconds)
        return await plan(request)

    world.plan = slow  # type: ignore[method-assign]


def test_who_stands_at_the_end_of_the_line_has_its_turn_however_often_it_begins_anew(world: World) -> None:
    full(world)
    full(world, "node-2", 60)
    by_shape(world, "last")
    for number in range(30):
        gang(world, f"g{number:02}", [1] * 5)
        world.advance(0.2)
    gang(world, "last", [9], nodeSelector={"pool": "own"})
    asked(world, 10)
    end(world, "node-1")
    asked(world, 10)
    slowly(world, 0.05)
    world.node("node-3", 9)
    world.api.patch(node_path("node-3"), {"metadata": {"labels": {"pool": "own"}}})
    for number in range(12):
        world.phase(f"node-2-{number}", "Succeeded")
        world.advance(0.5)
    assert "last" in running(world)


def test_who_raises_keeps_those_behind_it_waiting_for_a_moment_only(world: World) -> None:
    full(world)
    gang(world, "broken", [1])
    gang(world, "sound", [1])
    asked(world)
    by_counts = world._by_counts

    def answer(request: PlanRequest) -> PlanAnswer:
        if request.group == "broken":
            raise RuntimeError("broken")
        return by_counts(request)

    world.answer = answer
    world.phase("node-1-0", "Succeeded")
    for _ in range(4):
        with contextlib.suppress(RuntimeError):
            world.advance(LOOK_SECONDS)
    assert "sound" in running(world)
    world.clock.close()


def test_members_without_gpus_look_at_every_change_for_sums_do_not_say(world: World) -> None:
    world.node("gpus", 2)
    world.node("others", 0)
    world.pod("busy", 0, group="")
    world.bind("busy", "others")
    world.answer = refuse(Reason.INSUFFICIENT_RESOURCES)
    world.group("mpi", minMember=2)
    world.pod("launcher", 0, "mpi")
    world.pod("worker", 1, "mpi")
    asked(world, 10)
    world.phase("busy", "Succeeded")
    assert asked(world)["mpi"] >= 1


def test_a_reservation_that_has_expired_takes_no_room_though_it_stays(world: World) -> None:
    world.node("n1", GPUS)
    world.pod("seated", GPUS, group="")
    world.pod("asking", GPUS)
    objects = {name: world.at(pod_path(name)) for name in ("seated", "asking")}
    uids = {name: obj["metadata"]["uid"] for name, obj in objects.items() if obj}
    known = {uids[name]: pods.read(obj) for name, obj in objects.items() if obj}
    headroom, node = Headroom(known.get), nodes.read(world.at(node_path("n1")) or {})
    headroom.nodes([Change("n1", None, node)])
    demand = demands.read(PlanRequest("default", "ring", 1, (uids["asking"],)), known.get)
    assert demand is not None
    seat = Seat(uids["seated"], "seated", "n1", {})
    headroom.reserve(("default", "other"), Reservation("default", "other", 1, 100.0, (seat,)))
    headroom.expire(99.0)
    assert not headroom.room().may_do(demand)
    headroom.expire(100.0)
    assert headroom.room().may_do(demand)


def refuse(reason: Reason, *more: Rejection) -> Callable[[PlanRequest], PlanAnswer]:
    def answer(request: PlanRequest) -> PlanAnswer:
        return Unplaceable(f"{request.group}-0", (*more, Rejection("node-1", reason, "")))

    return answer
