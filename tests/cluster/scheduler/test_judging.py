"""What was found out about a node is forgotten with the state in which it was."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard_cluster.scheduler.cache import Candidate, ClusterCache
from gpuyard_cluster.scheduler.cycle import filter_nodes, in_tree_scores
from gpuyard_cluster.scheduler.pods import PodInfo

NAMES = ("a", "b")


def info(uid: str, cpu: int, node: str = "", selector: str = "") -> PodInfo:
    spec: dict[str, Any] = {"containers": [{"name": "main", "resources": {"requests": {"cpu": str(cpu)}}}]}
    status: dict[str, Any] = {"nominatedNodeName": node} if node else {}
    if selector:
        spec["nodeSelector"] = {"zone": selector}
    return PodInfo.of({"metadata": {"name": uid, "uid": uid}, "spec": spec, "status": status})


def node(name: str, cpu: int, zone: str) -> dict[str, Any]:
    allocatable = {"cpu": str(cpu), "pods": "10"}
    return {"metadata": {"name": name, "labels": {"zone": zone}}, "status": {"allocatable": allocatable}}


uids, names, zones = st.sampled_from("pqr"), st.sampled_from(NAMES), st.sampled_from(("x", "y"))
changes = st.one_of(
    st.tuples(st.just("node"), names, st.integers(1, 4), zones),
    st.tuples(st.just("book"), uids, st.integers(1, 3), names),
    st.tuples(st.just("release"), uids),
    st.tuples(st.just("promise"), uids, st.integers(1, 3), names),
)


def change(cache: ClusterCache, found: tuple[Any, ...]) -> None:
    match found:
        case ("node", name, cpu, zone):
            cache.set_node(node(name, cpu, zone))
        case ("book", uid, cpu, name):
            cache.assume(info(uid, cpu), name)
        case ("release", uid):
            cache.release(uid)
        case ("promise", uid, cpu, name):
            cache.nominate(info(uid, cpu, name))


@settings(max_examples=60)
@given(st.lists(changes, max_size=12))
def test_a_remembered_judgement_is_the_one_that_would_be_made_now(steps: list[tuple[Any, ...]]) -> None:
    cache = ClusterCache()
    for step in steps:
        change(cache, step)
        for pod in (info("new", 1), info("new", 2), info("new", 1, selector="x")):
            met = cache.candidates(pod)
            anew = [Candidate(found.node, dict(found.used), found.obj) for found in met]
            assert filter_nodes(pod, met).failures == filter_nodes(pod, anew).failures
            assert in_tree_scores(pod, met) == in_tree_scores(pod, anew)
            booked = {name: cache.candidates(pod, [name])[0].used for name in cache.names}
            assert booked == {found.node.name: found.used for found in met}
