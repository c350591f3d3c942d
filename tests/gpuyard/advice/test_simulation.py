"""Places for pods that nobody has created, and what would make them fit."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.advice import remedies, simulation
from gpuyard.advice.remedies import Ends, Fewer, MoreNodes, Remedy, Without
from gpuyard.advice.simulation import Outcome, Unit
from gpuyard.groups import gangs
from gpuyard.placing.cluster import Cluster, Node, Placement
from gpuyard.policies import registry
from gpuyard.preempting.stakes import Candidate
from tests.gpuyard.builders import GPU_RESOURCE, cluster, gpus, member, node, pod

POLICY = registry.named("pack")


def unit(*counts: int, together: bool = True, **annotations: str) -> Unit:
    """Pods p0, p1, … that ask for so many GPUs each."""
    pods = [pod(f"p{i}", {GPU_RESOURCE: str(count)}) for i, count in enumerate(counts)]
    for found in pods:
        found["metadata"]["annotations"] = annotations
    return Unit("unit", tuple(map(member, pods)), together)


def holding(where: Node, uid: str, *indices: int) -> Placement:
    assert where.inventory is not None
    ids = tuple(where.inventory.gpus[i].uuid for i in indices)
    return Placement(uid, where.name, {"": {"": ids}}, {GPU_RESOURCE: len(ids), "pods": 1})


def busy(
    name: str, having: int, *held: tuple[int, ...], halves: bool = False
) -> tuple[Node, list[Placement]]:
    """A node on which pods `name`-0, … hold the GPUs with these indices."""
    found = node(name, gpus(having, node=name, halves=halves))
    placements = [holding(found, f"{name}-{i}", *indices) for i, indices in enumerate(held)]
    for placement in placements:
        found = found.taking(placement)
    return found, placements


def advice(asked: Unit, *nodes: tuple[Node, list[Placement]]) -> list[Remedy]:
    """The remedies for a unit that does not fit."""
    held = {found.name: [Candidate(0, one) for one in placements] for found, placements in nodes}
    outcome = simulation.place(asked, cluster(*(found for found, _ in nodes)), POLICY)
    assert not outcome.fits
    return list(remedies.find(outcome, POLICY, lambda name: held.get(name, [])))


def ran(units: list[Unit], where: Cluster) -> list[Outcome]:
    return list(simulation.run(units, where, POLICY))


def test_a_gang_is_placed_as_a_plan_would_place_it_or_not_at_all() -> None:
    yard = cluster(node("a", gpus(4, node="a")), node("b", gpus(4, node="b")))
    [outcome] = ran([unit(3, 3)], yard)
    assert outcome.placements == gangs.plan(outcome.unit.members, yard, POLICY)
    [outcome] = ran([unit(3, 3, 3)], yard)
    assert (outcome.placements, outcome.after, outcome.reached) == ((), yard, 2)
    assert outcome.rejection == gangs.plan(outcome.unit.members, yard, POLICY)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=5), st.lists(st.integers(0, 4), min_size=1, max_size=3)
)
def test_a_simulated_gang_is_a_planned_gang(counts: list[int], sizes: list[int]) -> None:
    yard = cluster(*(node(f"n{i}", gpus(size, node=f"n{i}")) for i, size in enumerate(sizes)))
    outcome = simulation.place(unit(*counts), yard, POLICY)
    planned = gangs.plan(outcome.unit.members, yard, POLICY)
    assert (outcome.rejection or outcome.placements) == planned


def test_pods_that_start_each_for_itself_are_placed_as_far_as_they_go() -> None:
    [outcome] = ran([unit(1, 2, 1, together=False)], cluster(node("a", gpus(2, node="a"))))
    assert [placement.uid for placement in outcome.placements] == ["uid-p0", "uid-p2"]
    assert [found.request.name for found in outcome.failed] == ["p1"]


def test_what_is_placed_first_is_not_there_for_what_comes_after() -> None:
    first, second = ran([unit(2), unit(1)], cluster(node("a", gpus(2, node="a"))))
    assert (first.fits, second.fits) == (True, False)


def test_fewer_pods_or_fewer_gpus_in_each_are_proposed_as_far_as_they_fit() -> None:
    assert advice(unit(3, 3), busy("a", 4)) == [
        Fewer("pods", 2, 1),
        Fewer(GPU_RESOURCE, 3, 2),
        MoreNodes("a", 1),
    ]


def test_a_wish_that_stands_in_the_way_is_named() -> None:
    wish = {"gpuyard.io/topology": "same-numa"}
    halves = busy("a", 4, (0,), (2,), halves=True)
    found = advice(unit(2, **wish), halves)
    assert Without("gpuyard.io/topology") in found
    assert Fewer(GPU_RESOURCE, 2, 1) in found
    model = advice(unit(2, **{"gpuyard.io/gpu-model": "H100"}), busy("a", 4))
    assert model == [Without("gpuyard.io/gpu-model")]


def test_as_many_nodes_are_added_as_the_pods_without_a_place_fill() -> None:
    assert MoreNodes("a", 2) in advice(unit(4, 4, 4, 4, together=False), busy("a", 8, tuple(range(8))))
    larger = advice(unit(6, 6), busy("a", 4, (0, 1)), busy("b", 8, (0, 1, 2, 3, 4)))
    assert MoreNodes("b", 2) in larger


def test_a_pod_that_no_kind_of_node_can_take_is_told_of_none() -> None:
    assert advice(unit(9), busy("a", 4, (0,))) == [Fewer(GPU_RESOURCE, 9, 3)]


def test_those_who_would_have_to_end_are_as_few_as_would_do() -> None:
    found = advice(unit(3), busy("a", 4, (0,), (1, 2)), busy("b", 4, (0,), (1,), (2,), (3,)))
    assert Ends(("a-1",)) in found
    gang = advice(unit(4, 2), busy("a", 4, (0,), (1, 2)), busy("b", 4, (0,), (1,), (2,), (3,)))
    assert Ends(("a-0", "a-1", "b-0", "b-1")) in gang


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_every_remedy_that_names_nodes_or_pods_would_do(data: st.DataObject) -> None:
    parties = []
    for i in range(data.draw(st.integers(1, 3))):
        held = data.draw(st.lists(st.integers(0, 3), unique=True, max_size=4))
        parties.append(busy(f"n{i}", 4, *((index,) for index in held)))
    counts = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    asked = unit(*counts, together=data.draw(st.booleans()))
    yard = cluster(*(found for found, _ in parties))
    if simulation.place(asked, yard, POLICY).fits:
        return
    placements = {one.uid: one for _, held in parties for one in held}
    for remedy in advice(asked, *parties):
        if isinstance(remedy, Ends):
            changed = yard
            for uid in remedy.uids:
                changed = changed.without(placements[uid])
            assert simulation.place(asked, changed, POLICY).fits
        elif isinstance(remedy, MoreNodes):
            more = {f"m{i}": node(f"m{i}", gpus(4, node=f"m{i}")) for i in range(remedy.count)}
            assert simulation.place(asked, Cluster({**yard.nodes, **more}), POLICY).fits
        elif isinstance(remedy, Fewer) and remedy.what == "pods" and asked.together:
            smaller = Unit("", asked.members[: remedy.fits], together=True)
            assert simulation.place(smaller, yard, POLICY).fits


def test_a_crowd_is_told_who_would_have_to_end_on_as_many_nodes_as_it_takes() -> None:
    nodes = [busy(f"n{i:02}", 2, (0,), (1,)) for i in range(30)]
    [ending] = [found for found in advice(unit(*[2] * 25, together=False), *nodes) if isinstance(found, Ends)]
    assert len(ending.uids) == 50
