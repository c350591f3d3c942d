"""Of many nodes some are enough, from any one on; but one that does no harm is looked for to the end."""

from random import Random
from typing import Any

from gpuyard_cluster.scheduler.budgets import Budget
from gpuyard_cluster.scheduler.cache import ClusterCache
from gpuyard_cluster.scheduler.dry_run import DryRun, dry_run
from gpuyard_cluster.scheduler.pods import PodInfo
from tests.cluster.scheduler.world import budget
from tests.cluster.small_api import node, pod

NODES = [f"n{number}" for number in range(120)]


def info(name: str, app: str = "", **spec: Any) -> PodInfo:
    made = pod(name, {"cpu": "8"}, **spec)
    made["metadata"] |= {"uid": name, "labels": {"app": app}}
    return PodInfo.of(made)


def tried(seed: int, *limits: Budget) -> DryRun:
    """On each node but the last there is a pod of the app x."""
    cache = ClusterCache()
    for name in NODES:
        cache.set_node(node(name))
        cache.assign(info(f"on-{name}", "" if name == NODES[-1] else "x", nodeName=name))
    return dry_run(info("high", priority=1), NODES, cache, limits, Random(seed))


def test_a_hundred_candidates_are_enough_and_not_always_the_same() -> None:
    found = [tried(seed) for seed in range(3)]
    assert {len(each.candidates) for each in found} == {100}
    assert len({frozenset(each.candidates) for each in found}) == 3


def test_a_candidate_that_violates_no_budget_is_looked_for_to_the_end() -> None:
    limit = Budget.of(budget("x", 0, app="x"))
    counts = set()
    for seed in range(8):
        found = tried(seed, limit)
        counts.add(len(found.candidates) > 100)
        assert found.candidates[NODES[-1]].violations == 0
    assert counts == {True, False}
