from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard_cluster.scheduler.cache import ClusterCache
from gpuyard_cluster.scheduler.pods import PodInfo
from tests.cluster.small_api import node, pod


def info(name: str, cpu: int = 1, **changes: Any) -> PodInfo:
    nominated = changes.pop("nominated", "")
    made = pod(name, {"cpu": str(cpu)}, **changes)
    made["metadata"]["uid"] = name
    made["status"]["nominatedNodeName"] = nominated
    return PodInfo.of(made)


def used(cache: ClusterCache, name: str, met_by: PodInfo | None = None) -> dict[str, int]:
    (candidate,) = cache.candidates(met_by or info("visitor"), [name])
    return {resource: amount for resource, amount in candidate.used.items() if amount}


def cache_of(*names: str) -> ClusterCache:
    cache = ClusterCache()
    for name in names:
        cache.set_node(node(name))
    return cache


def test_assumed_and_assigned_pods_are_booked_once() -> None:
    cache = cache_of("a")
    cache.assume(info("p", 2), "a")
    assert used(cache, "a") == {"cpu": 2000, "pods": 1}
    assert not cache.assigned("p")
    cache.assign(info("p", 2, nodeName="a"))
    assert used(cache, "a") == {"cpu": 2000, "pods": 1}
    assert cache.assigned("p")
    assert cache.release("p")
    assert not cache.release("p")
    assert used(cache, "a") == {}


def test_a_pod_bound_elsewhere_than_assumed_counts_where_it_is() -> None:
    cache = cache_of("a", "b")
    cache.assume(info("p"), "a")
    cache.assign(info("p", nodeName="b"))
    assert (used(cache, "a"), used(cache, "b")) == ({}, {"cpu": 1000, "pods": 1})


def test_a_nomination_counts_against_equals_but_not_against_itself_or_higher_priority() -> None:
    cache = cache_of("a")
    promised = info("p", 4, nominated="a")
    cache.nominate(promised)
    assert used(cache, "a") == {"cpu": 4000, "pods": 1}
    assert used(cache, "a", promised) == {}
    assert used(cache, "a", info("higher", priority=1)) == {}
    cache.nominate(info("p", 4))
    assert used(cache, "a") == {}


def test_a_booked_pod_is_not_counted_a_second_time_for_its_nomination() -> None:
    cache = cache_of("a")
    promised = info("p", 4, nominated="a")
    cache.nominate(promised)
    cache.assume(promised, "a")
    cache.nominate(promised)
    assert used(cache, "a") == {"cpu": 4000, "pods": 1}


def test_pods_of_a_node_that_comes_back_are_still_booked() -> None:
    cache = cache_of("a")
    cache.assign(info("p", nodeName="a"))
    assert cache.remove_node("a")
    assert cache.candidates(info("q")) == []
    cache.set_node(node("a"))
    assert used(cache, "a") == {"cpu": 1000, "pods": 1}


def test_a_pod_that_was_told_to_go_makes_room_until_it_is_gone() -> None:
    cache = cache_of("a")
    cache.assign(info("p", nodeName="a", priority=1))
    assert not cache.making_room("a", 2)
    cache.evicted("p")
    cache.assign(info("p", nodeName="a", priority=1))
    assert cache.making_room("a", 2), "an older version of it may still arrive"
    assert not cache.making_room("a", 1), "only pods of lower priority make room"
    cache.release("p")
    cache.evicted("p")
    cache.assign(info("p", nodeName="a", priority=1))
    assert not cache.making_room("a", 2)


def test_only_changes_that_may_help_a_pod_count_as_changes() -> None:
    cache = cache_of("a")
    beating = node("a")
    beating["status"]["conditions"][0]["lastHeartbeatTime"] = "now"
    beating["status"]["images"] = []
    assert not cache.set_node(beating)
    assert cache.set_node(node("a", labels={"x": "y"}))
    assert cache.set_node({**node("a"), "spec": {"unschedulable": True}})


@settings(deadline=None, max_examples=50)
@given(
    st.lists(
        st.tuples(st.sampled_from(["assume", "assign", "release"]), st.integers(0, 3), st.sampled_from("ab"))
    )
)
def test_releasing_everything_leaves_nothing_booked(calls: list[tuple[str, int, str]]) -> None:
    cache = cache_of("a", "b")
    for call, number, name in calls:
        each = info(f"p{number}", number, nodeName=name)
        if call == "assume":
            cache.assume(each, name)
        elif call == "assign":
            cache.assign(each)
        else:
            cache.release(each.uid)
    for uid in cache.booked:
        cache.release(uid)
    assert (used(cache, "a"), used(cache, "b")) == ({}, {})
