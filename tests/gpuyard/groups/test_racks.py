"""Gangs in one rack, or in few."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from gpuyard import vocabulary
from gpuyard.groups import gangs, nearness, racks
from gpuyard.groups.gangs import GangRejection, Member
from gpuyard.groups.nearness import Domain, Nearness
from gpuyard.placing.cluster import Cluster, Node, Placement
from gpuyard.pods.affinity import Term
from gpuyard.policies.candidates import Policy
from gpuyard.policies.counted import pack
from gpuyard.verdicts import Reason
from tests.gpuyard.builders import GPU_RESOURCE, cluster, gpus, member, node, pod, where

RACK, LOOSE = Nearness(Domain.SAME_RACK), Nearness(Domain.SAME_RACK, required=False)


def racked(name: str, count: int, rack: str) -> Node:
    found = node(name, gpus(count, node=name))
    labels = {vocabulary.RACK: rack} if rack else {}
    return replace(found, fit=replace(found.fit, labels={**found.fit.labels, **labels}))


def ring(count: int, each: int) -> list[Member]:
    return [member(pod(f"worker-{i}", {GPU_RESOURCE: str(each)})) for i in range(count)]


def shreds(rack: str) -> list[Node]:
    """A rack with two GPUs, each on a node of its own."""
    return [racked(f"{rack}-{n}", 1, rack) for n in (1, 2)]


YARD = cluster(
    racked("a1", 4, "a"),
    racked("a2", 4, "a"),
    racked("b1", 4, "b"),
    racked("c1", 2, "c"),
    racked("d1", 8, ""),
)


@pytest.mark.parametrize(("count", "each", "nodes"), [(2, 1, {"c1"}), (2, 2, {"b1"}), (2, 4, {"a1", "a2"})])
def test_a_gang_gets_the_smallest_rack_that_is_enough(count: int, each: int, nodes: set[str]) -> None:
    assert set(where(racks.plan(ring(count, each), YARD, pack, RACK))) == nodes


def test_a_gang_without_a_rack_is_told_the_numbers_and_who_has_no_place_in_the_best() -> None:
    found = racks.plan(ring(3, 4), YARD, pack, RACK)
    assert isinstance(found, GangRejection)
    assert (found.member, found.rejections[0].reason) == ("worker-2", Reason.TOPOLOGY_UNSATISFIED)
    assert found.rejections[0].detail == "needs 12 GPUs in one rack, best rack a has 8"
    assert [no.node for no in found.rejections[1:]] == ["a1", "a2"]


@pytest.mark.parametrize(
    ("yard", "detail"),
    [
        (YARD, "needs 6 GPUs in one rack, best rack a has 8, but not so that all members fit"),
        (cluster(racked("d1", 8, "")), "no node that would do has the label gpuyard.io/rack"),
        (Cluster(), "no node that would do has the label gpuyard.io/rack"),
    ],
    ids=["shapes", "no label", "no node"],
)
def test_other_reasons_are_told_apart(yard: Cluster, detail: str) -> None:
    found = racks.plan(ring(2, 3) if len(yard.nodes) < 2 else ring(1, 6), yard, pack, RACK)
    assert isinstance(found, GangRejection)
    assert found.rejections[0].detail == detail


def test_where_a_rack_is_preferred_as_few_as_can_be_are_taken() -> None:
    assert where(racks.plan(ring(2, 1), YARD, pack, LOOSE)) == ["c1", "c1"]
    assert set(where(racks.plan(ring(3, 4), YARD, pack, LOOSE))) == {"a1", "a2", "b1"}
    assert "d1" in where(racks.plan(ring(5, 4), YARD, pack, LOOSE))


@pytest.mark.parametrize(("wish", "node"), [(RACK, None), (LOOSE, "c1")])
def test_a_late_member_goes_where_its_siblings_are(wish: Nearness, node: str | None) -> None:
    assert where(racks.plan(ring(1, 1), YARD, pack, wish, {"b1"})) == ["b1"]
    full = cluster(*(found for name, found in YARD.nodes.items() if name != "b1"), racked("b1", 0, "b"))
    found = racks.plan(ring(1, 1), full, pack, wish, {"b1"})
    assert (where(found)[0] if isinstance(found, tuple) else None) == node


def test_members_without_gpus_go_anywhere() -> None:
    members = [member(pod("head", {"cpu": "1"}, nodeSelector={"pool": "cpu"})), *ring(1, 2)]
    head = racked("head", 0, "")
    head = replace(head, fit=replace(head.fit, labels={"pool": "cpu"}))
    assert where(racks.plan(members, YARD.with_node(head), pack, RACK)) == ["head", "c1"]


def test_cordoned_nodes_are_no_part_of_a_rack() -> None:
    cordoned = replace(YARD.nodes["a2"], fit=replace(YARD.nodes["a2"].fit, unschedulable=True))
    found = racks.plan(ring(2, 4), YARD.with_node(cordoned), pack, RACK)
    assert isinstance(found, GangRejection)
    assert found.rejections[0].detail == "needs 8 GPUs in one rack, best rack a has 4"


@pytest.mark.parametrize("booked", [4, 6], ids=["all", "more than it still has"])
def test_what_is_booked_is_no_part_of_a_rack(booked: int) -> None:
    full = replace(YARD.nodes["a1"], used={GPU_RESOURCE: booked})
    found = racks.plan(ring(3, 4), YARD.with_node(full), pack, RACK)
    assert isinstance(found, GangRejection)
    assert found.rejections[0].detail == "needs 12 GPUs in one rack, best rack a has 4"


def test_a_block_is_as_many_racks_as_it_has() -> None:
    halves = [racked("a1", 4, "a"), racked("b1", 4, "b")]
    block = [replace(n, fit=replace(n.fit, labels={**n.fit.labels, vocabulary.BLOCK: "x"})) for n in halves]
    found = racks.plan(
        ring(2, 4), YARD.with_node(block[0]).with_node(block[1]), pack, Nearness(Domain.SAME_BLOCK)
    )
    assert set(where(found)) == {"a1", "b1"}


def test_racks_beyond_the_freest_that_are_enough_stay_whole() -> None:
    yard = cluster(racked("a1", 6, "a"), racked("b1", 4, "b"), racked("c1", 2, "c"))
    assert set(where(racks.plan(ring(10, 1), yard, pack, LOOSE))) == {"a1", "b1"}


def test_where_a_rack_has_the_count_and_not_the_shape_the_next_is_tried() -> None:
    assert where(racks.plan(ring(1, 2), cluster(*shreds("a"), racked("b1", 4, "b")), pack, RACK)) == ["b1"]


@pytest.mark.parametrize(
    ("wish", "gang", "plans"),
    [
        (RACK, ring(1, 2), racks.TRIES + 1),
        (LOOSE, ring(1, 2), 2 * racks.TRIES + 1),
        (LOOSE, ring(24, 1), 1),
    ],
    ids=["in one rack", "in few racks", "in as many as have the count"],
)
def test_a_gang_is_planned_a_few_times_however_many_racks_there_are(
    wish: Nearness, gang: list[Member], plans: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned, plan = list[int](), gangs.plan

    def counted(
        members: Sequence[Member], yard: Cluster, policy: Policy
    ) -> tuple[Placement, ...] | GangRejection:
        planned.append(len(members))
        return plan(members, yard, policy)

    monkeypatch.setattr(gangs, "plan", counted)
    racks.plan(gang, cluster(*(node for n in range(12) for node in shreds(f"r{n}"))), pack, wish)
    assert len(planned) == plans


def test_an_own_affinity_that_matches_no_node_still_matches_none() -> None:
    [wanting] = ring(1, 1)
    hopeless = replace(wanting.fit, affinity_terms=(Term(),))
    assert racks.within(hopeless, RACK, ("a",)).affinity_terms == ()


@pytest.mark.parametrize("wish", [RACK, LOOSE, Nearness(Domain.SAME_BLOCK)])
def test_a_wish_survives_its_way_through_annotations(wish: Nearness) -> None:
    assert nearness.parse(wish.annotations) == wish


@pytest.mark.parametrize(
    ("annotations", "named"),
    [
        ({vocabulary.TOPOLOGY: "nvlink"}, "use same-rack or same-block"),
        (
            {vocabulary.TOPOLOGY: "same-rack", vocabulary.TOPOLOGY_POLICY: "often"},
            "use required or preferred",
        ),
        ({vocabulary.TOPOLOGY: 3}, vocabulary.TOPOLOGY),
    ],
)
def test_what_cannot_be_understood_is_refused_with_the_remedy(
    annotations: dict[str, object], named: str
) -> None:
    with pytest.raises(ValueError, match=named):
        nearness.parse(annotations)
    assert nearness.parse({}) is None
