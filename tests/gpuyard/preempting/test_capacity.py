"""Room by count alone: nobody goes who can stay by it, and that is found out in a time that large gangs have."""

from collections import Counter
from collections.abc import ItemsView
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.preempting.capacity import Capacity
from gpuyard.preempting.stakes import Candidate, Unit
from gpuyard.vocabulary import TOPOLOGY
from tests.gpuyard.builders import GPU_RESOURCE, cluster, gpus, member, node, pod
from tests.gpuyard.preempting.test_clearance import cleared, holding, ring
from tests.gpuyard.preempting.test_preemption import running


@settings(deadline=None, max_examples=40)
@given(
    pods=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 3)), max_size=9),
    members=st.integers(1, 5),
    each=st.integers(1, 2),
)
def test_whoever_can_stay_by_count_stays_the_most_costly_first(
    pods: list[tuple[int, int, int]], members: int, each: int
) -> None:
    """As if they were asked about one by one, all nodes being counted anew each time."""
    nodes, units = [node(f"n{i}", gpus(4, node=f"n{i}")) for i in range(3)], dict[int, Unit]()
    free = {on.name: list(range(4)) for on in nodes}
    for at, devices, gang in pods:
        taken, free[f"n{at}"] = free[f"n{at}"][:devices], free[f"n{at}"][devices:]
        units[gang] = (*units.get(gang, ()), running(f"p{len(units)}-{at}-{taken}", nodes[at], *taken))
    every = list(units.values())
    capacity = Capacity.of(ring(members, each), holding(cluster(*nodes), every))
    if not capacity.suffices(every):
        return
    kept = every
    for unit in every[::-1]:
        less = [other for other in kept if other is not unit]
        kept = less if capacity.suffices(less) else kept
    assert list(capacity.thinned(every)) == kept


class Booked(dict[str, int]):
    """What a pod books; counts how often that is read."""

    reads = Counter[str]()

    def items(self) -> ItemsView[str, int]:
        self.reads.update(["all"])
        return super().items()


@pytest.mark.parametrize("halves", [False, True])
def test_the_work_for_a_large_gang_grows_with_the_pods_and_not_with_their_square(
    monkeypatch: pytest.MonkeyPatch, *, halves: bool
) -> None:
    """Else the operator has given up long before the answer."""
    nodes = [node(f"n{i:02}", gpus(8, node=f"n{i:02}", halves=halves)) for i in range(50)]
    units = [
        (counted(running(f"{on.name}-{i}", on, i, priority=i)),)
        for on in nodes
        for i in ((0, 1, 4, 5) if halves else range(8))
    ]
    asking = pod("worker", {GPU_RESOURCE: "4" if halves else "8"})
    asking["metadata"]["annotations"] = {TOPOLOGY: "same-numa"} if halves else {}
    compared = Counter[str]()

    def equal(one: Candidate, other: object) -> bool:
        compared.update(["pods"])
        return one is other

    monkeypatch.setattr(Candidate, "__eq__", equal)
    Booked.reads.clear()
    found = cleared([member(asking)] * 40, cluster(*nodes), *units)
    assert found is not None
    assert len(found.victims) == (80 if halves else 320)
    assert Booked.reads["all"] <= 60 * len(units)
    assert compared["pods"] <= 60 * len(units)


def counted(found: Candidate) -> Candidate:
    return replace(found, placement=replace(found.placement, requests=Booked(found.placement.requests)))


def test_it_is_counted_so_often_and_no_more_where_counts_say_no_to_almost_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No place is looked for then, which would be bounded."""
    nodes, asked = (
        [node(f"n{i:03}", gpus(4, node=f"n{i:03}", halves=True)) for i in range(200)],
        Counter[str](),
    )
    # A pod on the second half of every node never goes, and the one beside it goes in vain: by count it is as good.
    units = [
        (running(f"{on.name}-{i}", on, i, priority=priority),)
        for on in nodes
        for i, priority in ((0, 1), (1, 1), (2, 100), (3, 0))
    ]
    asking, suffices = pod("worker", {GPU_RESOURCE: "2"}), Capacity.suffices
    asking["metadata"]["annotations"] = {TOPOLOGY: "same-numa"}

    def counting(capacity: Capacity, gone: list[Unit]) -> bool:
        asked.update(["counts"])
        return suffices(capacity, gone)

    monkeypatch.setattr(Capacity, "suffices", counting)
    found = cleared([member(asking)] * 200, cluster(*nodes), *units)
    assert found is not None
    assert asked["counts"] <= 500
