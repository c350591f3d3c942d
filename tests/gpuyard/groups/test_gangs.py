from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.groups.gangs import GangRejection, Member, all_or_none, excess, plan
from gpuyard.placing.cluster import Cluster, Node
from gpuyard.policies.counted import pack, spread
from gpuyard.policies.registry import POLICIES
from gpuyard.verdicts import Reason
from tests.gpuyard.builders import GPU_RESOURCE, ONE_G, cluster, gpus, member, node, pod, split, where


def ring(count: int, limits: dict[str, str], **spec: object) -> list[Member]:
    return [member(pod(f"worker-{i}", limits, **spec)) for i in range(count)]


def test_members_see_the_members_before_them() -> None:
    yard = cluster(node("a"), node("b"))
    assert where(plan(ring(3, {GPU_RESOURCE: "4"}), yard, pack)) == ["a", "a", "b"]
    assert where(plan(ring(3, {GPU_RESOURCE: "4"}), yard, spread)) == ["a", "b", "a"]


def test_the_first_member_without_a_node_is_named_with_the_reasons() -> None:
    yard = cluster(node("b"), node("a", gpus(4, node="a")))
    found = plan(ring(2, {GPU_RESOURCE: "8"}), yard, pack)
    assert isinstance(found, GangRejection)
    assert found.member == "worker-1"
    assert [(r.node, r.reason, r.detail) for r in found.rejections] == [
        ("a", Reason.INSUFFICIENT_GPUS, "needs 8 GPUs, 4 free of 4"),
        ("b", Reason.INSUFFICIENT_GPUS, "needs 8 GPUs, 0 free of 8"),
    ]


def test_cpu_and_taints_count_too() -> None:
    found = plan(ring(2, {GPU_RESOURCE: "1", "cpu": "40"}), cluster(node("a")), pack)
    assert isinstance(found, GangRejection)
    assert found.rejections[0].reason is Reason.INSUFFICIENT_RESOURCES


def test_members_without_gpus_are_placed_with_the_others() -> None:
    members = [*ring(1, {GPU_RESOURCE: "8"}), member(pod("driver", {"cpu": "1"}))]
    assert where(plan(members, cluster(node("a")), pack)) == ["a", "a"]


def test_an_empty_cluster_places_nothing_and_an_empty_gang_needs_nothing() -> None:
    assert plan(ring(1, {}), Cluster(), pack) == GangRejection("worker-0", ())
    assert plan([], Cluster(), pack) == ()


NODES = (
    node("a", gpus(3, node="a")),
    node("b", gpus(2, node="b")),
    node("c", [split(gpu, *["1g.5gb"] * 2) for gpu in gpus(2, node="c")]),
)
LIMITS = st.dictionaries(st.sampled_from([GPU_RESOURCE, ONE_G, "cpu"]), st.integers(0, 3), max_size=2)


@settings(deadline=None, max_examples=100)
@given(
    wishes=st.lists(LIMITS, max_size=5),
    policy=st.sampled_from(sorted(POLICIES)),
    order=st.permutations(NODES),
)
def test_a_gang_is_placed_as_a_whole_or_not_at_all(
    wishes: list[dict[str, int]], policy: str, order: list[Node]
) -> None:
    members = [member(pod(f"worker-{i}", wish)) for i, wish in enumerate(wishes)]
    yard = cluster(*NODES)
    found = plan(members, yard, POLICIES[policy])
    assert yard == cluster(*NODES)
    assert plan(members, cluster(*order), POLICIES[policy]) == found
    if isinstance(found, GangRejection):
        assert [rejection.node for rejection in found.rejections] == ["a", "b", "c"]
        return
    assert [placement.uid for placement in found] == [each.request.uid for each in members]
    held = [identity for placement in found for identity in placement.ids]
    assert len(held) == len(set(held)) == sum(sum(each.request.totals.values()) for each in members)
    for placement in found:
        yard = yard.with_placement(placement)
    assert not any(known.contested for known in yard.nodes.values())
    assert all(
        known.used.get(resource, 0) <= amount
        for known in yard.nodes.values()
        for resource, amount in known.fit.allocatable.items()
    )


def test_a_gang_that_is_larger_than_the_cluster_is_told_so_with_the_numbers() -> None:
    yard = cluster(node("a"), node("b", gpus(4, node="b")))
    [found] = excess(ring(4, {GPU_RESOURCE: "4"}), yard)
    assert (found.node, found.reason) == ("", Reason.INSUFFICIENT_GPUS)
    assert found.detail == "all 4 members need 16 nvidia.com/gpu, all nodes have 12"
    assert excess(ring(3, {GPU_RESOURCE: "4"}), yard) == ()


def test_all_have_a_place_or_those_that_had_one_are_undone_the_last_first() -> None:
    free, undone = [3, 2, 1], list[int]()
    assert all_or_none("ab", lambda _: free.pop() if free else None, undone.append) == (1, 2)
    assert undone == []
    free = [3, 2]
    assert all_or_none("abc", lambda _: free.pop() if free else None, undone.append) is None
    assert undone == [3, 2]
