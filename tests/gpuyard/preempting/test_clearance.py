"""Room for a gang: nobody goes unless all of it fits then, whole gangs go or stay, and no cheaper set would do."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain, combinations
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.groups import gangs
from gpuyard.groups.gangs import Member
from gpuyard.hardware.inventory import MigStrategy
from gpuyard.placing.cluster import Cluster, Node, Placement
from gpuyard.placing.trials import Trial
from gpuyard.policies.counted import pack
from gpuyard.preempting import clearance
from gpuyard.preempting.clearance import AtStake, Room, make_room
from gpuyard.preempting.stakes import Candidate, Stakes, Unit
from gpuyard.vocabulary import TOPOLOGY
from tests.gpuyard.builders import GPU_RESOURCE, cluster, gpus, member, node, pod
from tests.gpuyard.preempting.test_preemption import running

HIGH = 100


def alone(uid: str, on: Node, *devices: int, priority: int = 0, **more: object) -> Unit:
    return (running(uid, on, *devices, priority=priority, **more),)


def holding(yard: Cluster, units: Sequence[Unit], besides: Sequence[Unit] = ()) -> Cluster:
    for found in chain(*(unit for unit in units if unit not in besides)):
        yard = yard.with_placement(found.placement)
    return yard


def cleared(
    members: list[Member],
    yard: Cluster,
    *units: Unit,
    stakes: Stakes = Stakes(),  # noqa: B008 -- frozen
) -> Room | None:
    return make_room(members, holding(yard, units), pack, AtStake(HIGH, units, stakes))


def ring(count: int, each: int = 1, **spec: object) -> list[Member]:
    return [member(pod(f"worker-{i}", {GPU_RESOURCE: str(each)}, **spec)) for i in range(count)]


A, B = node("a", gpus(2, node="a")), node("b", gpus(2, node="b"))
YARD = cluster(A, B)


def test_all_of_the_gang_gets_places_or_nobody_goes() -> None:
    units = [alone("x", A, 0), alone("y", A, 1), alone("vip", B, 0, priority=HIGH)]
    assert cleared(ring(4), YARD, *units) is None
    found = cleared(ring(2, each=2), cluster(A, B, node("c", gpus(1, node="c"))), *units)
    assert found is None, "x and y would leave one node, not two"
    found = cleared(ring(1, each=2), YARD, *units)
    assert found is not None
    assert set(found.victims) == {"x", "y"}
    assert [(seat.node, len(seat.ids)) for seat in found.placements] == [("a", 2)]


def test_whoever_fits_already_costs_nobody_a_place() -> None:
    found = cleared(ring(1), YARD, alone("x", A, 0))
    assert found is not None
    assert found.victims == ()


def test_a_gang_goes_as_a_whole_and_only_when_that_costs_less_than_others() -> None:
    whole = (running("m0", A, 0), running("m1", B, 0))
    others = [alone("x", A, 1), alone("y", B, 1)]
    found = cleared(ring(2, each=2), YARD, whole, *others)
    assert found is not None
    assert set(found.victims) == {"m0", "m1", "x", "y"}
    found = cleared(ring(2), YARD, whole, *others)
    assert found is not None
    assert set(found.victims) in ({"m0", "m1"}, {"x", "y"})
    found = cleared(ring(1), YARD, whole, *others)
    assert found is not None
    assert len(found.victims) == 1, "one pod rather than a gang"


def test_of_equals_the_youngest_goes() -> None:
    units = [alone("old", A, 0, started=1.0), alone("young", A, 1, started=9.0), alone("other", B, 0)]
    found = cleared(ring(2), YARD, *units)
    assert found is not None
    assert found.victims == ("young",), "b/1 is free, and of the others the youngest goes"


def test_no_budget_is_violated_even_where_that_means_that_nobody_can_go() -> None:
    keep = frozenset({"default/keep"})
    units = [alone("x", A, 0, 1, budgets=keep), alone("y", B, 0, 1, budgets=keep, priority=5)]
    assert cleared(ring(1), YARD, *units) is None
    one = Stakes(allowed={"default/keep": 1})
    found = cleared(ring(2), YARD, *units, stakes=one)
    assert found is not None
    assert found.victims == ("x",)
    assert cleared(ring(3), YARD, *units, stakes=one) is None


def test_one_small_instance_goes_for_the_hole_that_a_large_one_needs() -> None:
    on = node("node-1", gpus(1), mig_strategy=MigStrategy.DYNAMIC)
    assert on.inventory is not None
    places = {(found.profile, found.start): i for i, found in enumerate(on.inventory.devices())}
    units = [alone("at-1", on, places["1g.5gb", 1]), alone("at-5", on, places["1g.5gb", 5], priority=1)]
    large = [member(pod("large", {"nvidia.com/mig-3g.20gb": "1"}))]
    found = cleared(large, cluster(on), *units)
    assert found is not None
    assert found.victims == ("at-1",)


def test_among_thousands_few_are_asked_to_go() -> None:
    nodes = [node(f"n{i:03}", gpus(4, node=f"n{i:03}")) for i in range(250)]
    units = [alone(f"{on.name}-{i}", on, i, priority=i) for on in nodes for i in range(4)]
    found = cleared(ring(3, each=2), cluster(*nodes), *units)
    assert found is not None
    assert len(found.victims) == 6


def test_where_counts_decide_a_gang_is_placed_as_a_trial_three_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each trial looks for a place for every member: most of a second for hundreds of them."""
    nodes = [node(f"n{i:02}", gpus(3, node=f"n{i:02}")) for i in range(32)]
    # What one pod leaves on a node is too little; so one goes that need not, unless a second one goes there.
    units = [alone(f"{on.name}-{i}", on, i, priority=i) for on in nodes for i in range(3)]
    found, places = counted(monkeypatch, lambda: cleared(ring(12, each=2), cluster(*nodes), *units))
    assert found is not None
    assert len(found.victims) == 24
    assert places <= 3 * 12


def test_where_counts_do_not_decide_the_trials_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The GPUs of each node are on two NUMA nodes, and on each of these one has a pod that may not go."""
    nodes = [node(f"n{i:02}", gpus(4, node=f"n{i:02}", halves=True)) for i in range(64)]
    priorities = (HIGH, 0, HIGH, 1)
    units = [alone(f"{on.name}-{i}", on, i, priority=priorities[i]) for on in nodes for i in range(4)]
    asking = pod("worker", {GPU_RESOURCE: "2"})
    asking["metadata"]["annotations"] = {TOPOLOGY: "same-numa"}
    members = [member(asking)] * 64
    found, places = counted(monkeypatch, lambda: cleared(members, cluster(*nodes), *units))
    assert found is None
    assert places <= 17 * 64


@pytest.mark.parametrize("tries", [6, 10, 16])
def test_nobody_goes_who_can_stay_beside_the_places_however_few_trials_there_are(
    tries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clearance, "_FEWEST", tries)
    monkeypatch.setattr(clearance, "_PLACES", 0)
    rooms = 0
    for seed in range(12):
        members, yard, units = crowded(Random(seed))
        found = cleared(members, yard, *units)
        rooms += found is not None
        full = holding(yard, [unit for unit in units if found and unit[0].placement.uid not in found.victims])
        for placed in found.placements if found else ():
            full = full.with_placement(placed)
        leaving = [unit[0] for unit in units if found and unit[0].placement.uid in found.victims]
        assert not [
            one for one in leaving if clearance._has_room(full.nodes[one.placement.node], one.placement)
        ]
    assert rooms >= 6


def crowded(random: Random) -> tuple[list[Member], Cluster, list[Unit]]:
    """A gang of pods of several sizes, most of which want one NUMA node, and nodes that others have taken."""
    nodes = [node(f"n{i:02}", gpus(8, node=f"n{i:02}", halves=True)) for i in range(20)]
    units = list[Unit]()
    for on in nodes:
        free = list(range(8))
        while free:
            taken, free = free[: (size := random.choice([1, 1, 2, 4]))], free[size:]
            units.append(
                alone(f"{on.name}-{len(units)}", on, *taken, priority=random.choice([0, 1, 2, HIGH]))
            )
    members = list[Member]()
    for i in range(12):
        asking = pod(f"worker-{i}", {GPU_RESOURCE: str(random.choice([1, 2, 4]))})
        asking["metadata"]["annotations"] = {TOPOLOGY: "same-numa"} if random.random() < 0.7 else {}
        members.append(member(asking))
    return members, cluster(*nodes), units


def test_a_gang_of_a_hundred_where_counts_do_not_decide_gets_room_too() -> None:
    """A trial of so many takes long, so there are few."""
    nodes = [node(f"n{i:03}", gpus(8, node=f"n{i:03}", halves=True)) for i in range(110)]
    units = [alone(f"{on.name}-{i}", on, i, priority=i % 4) for i in (0, 4, 1, 5) for on in nodes]
    asking = pod("worker", {GPU_RESOURCE: "4"})
    asking["metadata"]["annotations"] = {TOPOLOGY: "same-numa"}
    found = cleared([member(asking)] * 100, cluster(*nodes), *units)
    assert found is not None
    assert len(found.victims) == 200


def test_a_gang_too_large_for_every_node_by_count_is_not_placed_at_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Though all of them together would have enough."""
    nodes = [node(f"n{i:02}", gpus(3, node=f"n{i:02}")) for i in range(8)]
    units = [alone(f"{on.name}-{i}", on, i) for on in nodes for i in range(3)]
    assert counted(monkeypatch, lambda: cleared(ring(9, each=2), cluster(*nodes), *units)) == (None, 0)


def counted(monkeypatch: pytest.MonkeyPatch, work: Callable[[], Room | None]) -> tuple[Room | None, int]:
    """What it finds, and how many places it looks for."""
    places, place = Counter[str](), Trial.place

    def counting(trial: Trial, *asked: Any) -> Placement | None:
        places.update(["place"])
        return place(trial, *asked)

    with monkeypatch.context() as patched:
        patched.setattr(Trial, "place", counting)
        return work(), places["place"]


@settings(deadline=None, max_examples=40)
@given(
    held=st.lists(st.tuples(st.booleans(), st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=6),
    together=st.sets(st.integers(0, 5), max_size=3),
    wanted=st.lists(st.integers(1, 3), min_size=1, max_size=3),
)
def test_no_cheaper_set_of_victims_would_make_room(
    held: list[tuple[bool, int, int]], together: set[int], wanted: list[int]
) -> None:
    nodes = {False: node("a", gpus(3, node="a")), True: node("b", gpus(3, node="b"))}
    free = {False: [0, 1, 2], True: [0, 1, 2]}
    pods = list[Candidate]()
    for i, (there, count, priority) in enumerate(held):
        taken, free[there] = free[there][:count], free[there][count:]
        pods.append(running(f"p{i}", nodes[there], *taken, priority=priority, started=float(i)))
    ring_of = tuple(found for i, found in enumerate(pods) if i in together)
    units = [(found,) for i, found in enumerate(pods) if i not in together] + ([ring_of] if ring_of else [])
    members = [
        member(pod(f"worker-{i}", {GPU_RESOURCE: str(count), "cpu": "20"})) for i, count in enumerate(wanted)
    ]

    def fits(gone: Sequence[Unit]) -> bool:
        left = holding(cluster(*nodes.values()), units, gone)
        return isinstance(gangs.plan(members, left, pack), tuple)

    def cost(gone: Sequence[Unit]) -> tuple[int, int, list[int]]:
        priorities = sorted((found.priority for found in chain(*gone)), reverse=True)
        return priorities[0], len(priorities), priorities

    able = [unit for unit in units if all(found.priority < 2 for found in unit)]
    sets = [gone for size in range(len(able) + 1) for gone in combinations(able, size) if fits(gone)]
    found = make_room(members, holding(cluster(*nodes.values()), units), pack, AtStake(2, units, Stakes()))
    if not fits(able):
        assert found is None
        return
    assert found is not None
    chosen = [unit for unit in able if any(each.placement.uid in found.victims for each in unit)]
    assert {each.placement.uid for each in chain(*chosen)} == set(found.victims)
    assert fits(chosen)
    assert (cost(chosen) if chosen else None) == (None if () in sets else min(map(cost, sets)))
