from random import Random
from typing import Any

from gpuyard.pods.fit import NodeFit
from gpuyard_cluster.scheduler.attempt import Unschedulable
from gpuyard_cluster.scheduler.cache import Candidate
from gpuyard_cluster.scheduler.cycle import (
    Rejection,
    choose,
    filter_nodes,
    in_tree_scores,
    unschedulable_message,
)
from gpuyard_cluster.scheduler.pods import PodInfo
from tests.cluster.small_api import node, pod


def info(limits: dict[str, str] | None = None, **spec: Any) -> PodInfo:
    made = pod("p", limits, **spec)
    made["metadata"]["uid"] = "p"
    return PodInfo.of(made)


def candidate(name: str, used: dict[str, int] | None = None, **more: Any) -> Candidate:
    obj = node(name, **more)
    return Candidate(NodeFit.of(obj), used or {}, obj)


def test_every_short_resource_is_named_and_other_refusals_end_the_check() -> None:
    tainted = candidate("c")
    obj = {**tainted.obj, "spec": {"taints": [{"key": "x", "effect": "NoSchedule"}]}}
    nodes = [candidate("a"), candidate("b", cpu="1"), Candidate(NodeFit.of(obj), {}, obj)]
    kept = filter_nodes(info({"cpu": "4", "example.com/chip": "1"}), nodes)
    assert kept.feasible == ()
    assert kept.failures == {
        "a": Rejection(("Insufficient example.com/chip",), resolvable=False),
        "b": Rejection(("Insufficient cpu", "Insufficient example.com/chip"), resolvable=False),
        "c": Rejection(("node(s) had untolerated taint(s)",), resolvable=False),
    }
    assert Unschedulable(3, kept.failures).message == (
        "0/3 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s), "
        "2 Insufficient example.com/chip."
    )


def test_removing_pods_may_help_only_where_an_empty_node_would_do() -> None:
    full = {"cpu": 8000, "pods": 110}
    kept = filter_nodes(info({"cpu": "4"}), [candidate("full", full), candidate("small", full, cpu="2")])
    assert {name: found.resolvable for name, found in kept.failures.items()} == {"full": True, "small": False}


def test_a_message_needs_no_reasons() -> None:
    assert unschedulable_message(0, {}) == "no nodes available to schedule pods"
    assert unschedulable_message(2, {}) == "0/2 nodes are available:"


def test_the_emptier_node_scores_higher() -> None:
    half = {"cpu": 4000}
    scores = in_tree_scores(info({"cpu": "2"}), [candidate("empty"), candidate("half", half)])
    assert scores == {"empty": (75 + 100) // 2, "half": (25 + 100) // 2}


def test_preferred_node_affinity_outweighs_room() -> None:
    preference = {
        "matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["full"]}]
    }
    wish = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": preference}]}
    pod = info({"cpu": "1"}, affinity={"nodeAffinity": wish})
    scores = in_tree_scores(pod, [candidate("empty"), candidate("full", {"cpu": 7000})])
    assert scores["full"] > scores["empty"]


def test_ties_are_drawn_and_the_best_is_always_taken() -> None:
    drawn = {choose({"a": 5, "b": 5, "c": 4}, Random(seed)) for seed in range(20)}
    assert drawn == {"a", "b"}
