"""Places on nodes that fail while nobody has them yet: noticed at once, before gates fall and after, and no loop."""

from collections.abc import Callable
from typing import Any

import pytest

from gpuyard import vocabulary
from gpuyard.annotations import write_allocation, write_inventory
from gpuyard.groups.plans import Planned, PlanRequest
from gpuyard.groups.reservations import Reservation, Seat, Victim, to_object
from gpuyard.hardware.gpus import GPU
from gpuyard.hardware.inventory import Inventory
from gpuyard.writes import JSON, Write
from gpuyard_operator.cache import PATHS, Cache
from gpuyard_operator.deciding.asking import LONGEST_SECONDS
from gpuyard_operator.deciding.commit import LOST_SECONDS
from tests.gang_operator.deciding.test_preemption import full
from tests.gang_operator.world import PLACES_SECONDS, World, node_path, pod_path

Harm = Callable[[World, str], object]
READY = {"type": "Ready", "status": "True"}


def ready(world: World, node: str, status: str, **heartbeat: str) -> None:
    conditions = [{**READY, "status": status, **heartbeat}]
    world.api.patch(f"{node_path(node)}/status", {"status": {"conditions": conditions}})


def change(world: World, node: str, **spec: object) -> None:
    world.api.patch(node_path(node), {"spec": spec})


HARMS: dict[str, Harm] = {
    "deleted": lambda world, node: world.delete(node_path(node)),
    "cordoned": lambda world, node: change(world, node, unschedulable=True),
    "not ready": lambda world, node: ready(world, node, "False"),
    "silent": lambda world, node: ready(world, node, "Unknown"),
    "tainted": lambda world, node: change(world, node, taints=[{"key": "repair", "effect": "NoSchedule"}]),
}
PASSING = ("not ready", "silent")
"""Such a node may be ready again in a moment."""
harms = pytest.mark.parametrize("harm", HARMS.values(), ids=[*HARMS])
passing = pytest.mark.parametrize("harm", [HARMS[name] for name in PASSING], ids=PASSING)
lasting = pytest.mark.parametrize("harm", [HARMS[name] for name in HARMS if name not in PASSING])


@pytest.fixture
def world() -> World:
    """A gang of two whose places on two of four nodes are reserved, while nobody binds its members."""
    found = World()
    for number in range(1, 5):
        found.node(f"node-{number}", gpus=1)
    found.binds_refused.update("ab")
    return found


def members(world: World, **fields: Any) -> None:
    world.group(minMember=2)
    for name in "ab":
        world.pod(name, **fields)
    world.settle()


def gang(world: World, **fields: Any) -> None:
    members(world, **fields)
    assert nodes(world) == {"a": "node-1", "b": "node-2"}


def nodes(world: World) -> dict[str, str]:
    found = world.places()
    return {seat.name: seat.node for seat in found.seats} if found else {}


def planned(world: World, request: PlanRequest, device: int = 0) -> Planned:
    """`a` on node-1 and `b` on node-2, whatever has become of these; with that device of theirs, if any."""
    seats = tuple(
        Seat(uid, name, node, {"main": {vocabulary.GPU: (f"{node}-{device}",)}} if device else {})
        for uid, name, node in zip(request.members, "ab", ("node-1", "node-2"), strict=True)
    )
    until = world.clock.now() + PLACES_SECONDS
    return Planned(Reservation(request.namespace, request.group, request.needed, until, seats))


def ungating(write: Write) -> bool:
    return write.method == "PATCH" and write.path in (pod_path("a"), pod_path("b"))


@harms
def test_no_gate_falls_for_a_place_that_cannot_be_used_any_more(world: World, harm: Harm) -> None:
    """G49: it could not be put back, and the pod would be bound to a node that has just failed."""
    world.api.fails = ungating
    gang(world)
    harm(world, "node-1")
    world.binds_refused.clear()
    world.api.fails = lambda _: False
    world.advance(1)
    assert world.bound() == {"a": "node-2", "b": "node-3"}


@lasting
def test_members_whose_gates_have_fallen_get_other_places_at_once(world: World, harm: Harm) -> None:
    gang(world)
    world.advance(1)
    harm(world, "node-2")
    world.settle()
    assert nodes(world) == {"a": "node-1", "b": "node-3"}
    assert len(world.questions) == 2


@passing
def test_a_gang_whose_gates_have_fallen_keeps_its_places_while_a_kubelet_is_not_heard_of(
    world: World, harm: Harm
) -> None:
    """Some of it may be bound already; and who has to wait for places anew may not get them."""
    gang(world)
    world.advance(1)
    for _ in range(3):
        harm(world, "node-2")
        world.advance(0.5)
        ready(world, "node-2", "True")
        world.advance(0.5)
    assert nodes(world) == {"a": "node-1", "b": "node-2"}
    assert len(world.questions) == 1


def test_places_are_looked_for_among_all_members_before_they_are_given_up(world: World) -> None:
    """One may have been bound, which was not seen yet."""
    gang(world)
    world.advance(1)
    world.bind("a", "node-1")
    HARMS["cordoned"](world, "node-2")
    world.events["nodes"].pop()()
    while world.clock.step() is not None:
        pass
    assert nodes(world) == {"a": "node-1", "b": "node-2"}


def test_a_place_that_is_lost_among_the_writes_of_one_look_keeps_the_gates_on(world: World) -> None:
    def cordon(write: Write) -> bool:
        if write.path == f"{pod_path('b')}/status" and not world.questions[1:]:
            HARMS["cordoned"](world, "node-1")
            while world.deliver():
                pass
        return False

    world.api.fails = cordon
    members(world)
    assert not any(map(ungating, world.api.writes))
    world.binds_refused.clear()
    world.advance(1)
    assert world.bound() == {"a": "node-2", "b": "node-3"}


@lasting
def test_without_room_elsewhere_the_gang_waits_until_the_node_is_of_use_again(
    world: World, harm: Harm
) -> None:
    for number in (3, 4):
        world.delete(node_path(f"node-{number}"))
    gang(world)
    harm(world, "node-2")
    world.advance(1)
    assert nodes(world) == {}
    assert world.condition()["reason"] == "GangUnplaceable"
    if world.at(node_path("node-2")) is not None:
        world.delete(node_path("node-2"))
    world.node("node-2", gpus=1)
    world.binds_refused.clear()
    world.advance(1)
    assert world.bound() == {"a": "node-1", "b": "node-2"}


@pytest.mark.parametrize("harm", ["cordoned", "deleted"])
@pytest.mark.parametrize("order", [("reservations", "nodes", "pods"), ("pods", "nodes", "reservations")])
def test_what_happened_while_the_operator_was_down_is_noticed_too(
    world: World, order: tuple[str, ...], harm: str
) -> None:
    gang(world)
    world.operator.stop()
    HARMS[harm](world, "node-1")
    world.arrival = [*order, *(name for name in PATHS if name not in order)]
    world.restart()
    world.advance(1)
    assert nodes(world) == {"a": "node-2", "b": "node-3"}


def test_a_node_that_the_operator_hears_of_after_its_reservation_is_no_loss(world: World) -> None:
    for number in (2, 3, 4):
        world.delete(node_path(f"node-{number}"))
    world.advance(1)
    world.arrival = [*(name for name in PATHS if name != "nodes"), "nodes"]
    world.node("node-5", gpus=1)
    members(world)
    world.api.writes.clear()
    world.advance(1)
    assert len(world.questions) == 1
    assert nodes(world) == {"a": "node-1", "b": "node-5"}


@lasting
@pytest.mark.parametrize("gated", [True, False], ids=["before gates fall", "after"])
def test_one_that_a_gang_can_do_without_gets_another_place_once_the_others_have_started(
    world: World, harm: Harm, *, gated: bool
) -> None:
    for name in "abc":
        world.pod(name)
    world.binds_refused.update("abc")
    world.api.fails = ungating if gated else world.api.fails
    world.group(minMember=2)
    world.advance(1)
    assert nodes(world) == {"a": "node-1", "b": "node-2", "c": "node-3"}
    harm(world, "node-1")
    world.api.fails = lambda _: False
    world.binds_refused -= {*"bc"}
    world.advance(2)
    assert world.bound() == {"b": "node-2", "c": "node-3"}
    assert nodes(world) == {"a": "node-4"}


@lasting
def test_one_that_a_gang_can_do_without_gets_another_place_though_the_others_have_not_started(
    world: World, harm: Harm
) -> None:
    for name in "abc":
        world.pod(name)
    world.binds_refused.update("abc")
    world.group(minMember=2)
    world.advance(1)
    harm(world, "node-1")
    world.advance(LOST_SECONDS)
    assert {*nodes(world).values()} == {"node-2", "node-3", "node-4"}


def test_an_extender_that_sees_it_late_is_not_asked_without_end(world: World) -> None:
    by_counts, late = world.answer, world.clock.now() + 10
    world.answer = lambda asked: planned(world, asked) if world.clock.now() < late else by_counts(asked)
    members(world)
    HARMS["cordoned"](world, "node-1")
    world.api.writes.clear()
    world.advance(9.9)
    assert 3 < len(world.questions) <= 6
    assert not any(map(ungating, world.api.writes))
    world.advance(LONGEST_SECONDS)
    assert set(nodes(world).values()) == {"node-2", "node-3"}


def test_a_member_that_tolerates_it_keeps_its_place(world: World) -> None:
    """The extender would give it the same again."""
    gang(world, tolerations=[{"operator": "Exists"}])
    for kind in ("cordoned", "not ready", "tainted"):
        HARMS[kind](world, "node-1")
        world.advance(1)
    assert nodes(world) == {"a": "node-1", "b": "node-2"}
    assert len(world.questions) == 1


@harms
def test_the_node_of_a_member_that_is_bound_does_not_hold_up_the_others(world: World, harm: Harm) -> None:
    world.binds_refused.discard("a")
    gang(world)
    harm(world, "node-1")
    world.advance(1)
    world.binds_refused.clear()
    world.advance(1)
    assert world.bound() == {"a": "node-1", "b": "node-2"}
    assert world.condition()["reason"] == "GangScheduled"


@harms
def test_nothing_happens_to_members_that_run(world: World, harm: Harm) -> None:
    world.binds_refused.clear()
    members(world)
    harm(world, "node-1")
    world.advance(60)
    assert world.bound() == {"a": "node-1", "b": "node-2"}
    assert len(world.questions) == 1


def test_a_heartbeat_is_no_reason_to_look(world: World) -> None:
    gang(world)
    ready(world, "node-1", "True", lastHeartbeatTime="2026-01-01T00:00:00Z")
    world.settle()
    before = world.operator.tally.reconciles
    ready(world, "node-1", "True", lastHeartbeatTime="2026-01-01T00:00:10Z")
    world.settle()
    assert world.operator.tally.reconciles == before


def test_nobody_goes_for_a_place_that_cannot_be_used(world: World) -> None:
    """The evictions that a budget refused are not tried again."""
    world = full()
    world.api.fails = lambda write: write.path.endswith("/eviction")
    world.settle()
    assert world.places("urgent") is not None
    HARMS["cordoned"](world, "node-1")
    world.api.fails = lambda _: False
    world.advance(0.4)
    assert world.places("urgent") is None
    assert set(world.bound()) == {"a", "b"}


# --- devices


def describe(world: World, node: str, *devices: str, sick: str = "") -> None:
    gpus = tuple(GPU(i, name, "NVIDIA-A100", 40960, healthy=name != sick) for i, name in enumerate(devices))
    marks: JSON = {vocabulary.INVENTORY: write_inventory(Inventory(gpus))}
    world.api.patch(node_path(node), {"metadata": {"annotations": marks}})


@pytest.fixture
def seated(world: World) -> World:
    """Its places are on the first devices of its nodes."""

    world.answer = lambda request: planned(world, request, device=len(world.questions))
    for node in ("node-1", "node-2"):
        describe(world, node, f"{node}-1", f"{node}-2")
    gang(world)
    world.advance(1)
    return world


def devices(world: World) -> set[str]:
    found = world.places()
    return (
        {name for seat in found.seats for name in seat.allocation["main"][vocabulary.GPU]} if found else set()
    )


@pytest.mark.parametrize("left", [("node-1-1", "node-1-2"), ("node-1-2",)], ids=["sick", "gone"])
def test_a_device_that_is_sick_or_gone_is_replaced_before_anybody_has_it(
    seated: World, left: tuple[str, ...]
) -> None:
    describe(seated, "node-1", *left, sick="node-1-1")
    seated.settle()
    assert devices(seated) == {"node-1-2", "node-2-2"}


@pytest.mark.parametrize("text", [None, "", "{", '{"v": 2}', '{"v": 1, "gpus": 3}'])
def test_of_an_inventory_that_says_nothing_nothing_is_concluded(seated: World, text: str | None) -> None:
    seated.api.patch(node_path("node-1"), {"metadata": {"annotations": {vocabulary.INVENTORY: text}}})
    seated.advance(1)
    assert devices(seated) == {"node-1-1", "node-2-1"}


def test_another_device_of_the_node_may_fail(seated: World) -> None:
    describe(seated, "node-1", "node-1-1", "node-1-2", sick="node-1-2")
    seated.advance(1)
    assert devices(seated) == {"node-1-1", "node-2-1"}


@pytest.mark.parametrize(("holder", "lost"), [("a", set()), ("victim", set()), ("stranger", {"a"})])
def test_a_device_is_lost_to_strangers_alone(holder: str, lost: set[str]) -> None:
    """Not to the member itself, once it is bound, and not to who has to go for it and has not gone yet."""
    cache, plan = Cache(), {"main": {vocabulary.GPU: ("device",)}}
    seat, victim = Seat("a", "a", "node-1", plan), Victim("victim", "default", "victim")
    found = Reservation("default", "ring", 1, 60.0, (seat,), (victim,))
    cache.observe("reservations", "ADDED", to_object(found, "group"))
    metadata = {"name": holder, "namespace": "default", "uid": holder}
    marks = {"annotations": {vocabulary.ALLOCATION: write_allocation(plan)}}
    cache.observe("pods", "ADDED", {"metadata": metadata | marks, "spec": {"nodeName": "node-1"}})
    assert cache.lost(("default", "ring")) == lost
