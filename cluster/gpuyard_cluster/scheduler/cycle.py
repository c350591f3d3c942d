"""The pure half of a scheduling cycle: filter by in-tree fit, score, choose, and put a failure into words.

Stands for kube-scheduler's Filter and Score plugins and for FitError. In-tree scores are those that matter to a small
cluster: LeastAllocated of CPU and memory (weight 1) and preferred node affinity (weight 2), each 0 to 100.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from gpuyard import fit
from gpuyard_cluster.scheduler.cache import Candidate
from gpuyard_cluster.scheduler.pods import PodInfo

HIGHEST = 100
_AFFINITY_WEIGHT = 2
_SCORED = ("cpu", "memory")
NO_NODES = "no nodes available to schedule pods"


@dataclass(frozen=True, slots=True)
class Filtered:
    """The nodes that are left, and why each of the others is not: node -> texts."""

    feasible: tuple[Candidate, ...]
    failures: Mapping[str, tuple[str, ...]]


def filter_nodes(pod: PodInfo, candidates: Iterable[Candidate]) -> Filtered:
    """The candidates that the pod fits by everything in-tree."""
    feasible, failures = [], {}
    for candidate in candidates:
        shortfalls = fit.check(pod.fit, candidate.node, candidate.used)
        if shortfalls:
            failures[candidate.node.name] = tuple(found.text for found in shortfalls)
        else:
            feasible.append(candidate)
    return Filtered(tuple(feasible), failures)


def unschedulable_message(total: int, failures: Mapping[str, Sequence[str]]) -> str:
    """In kube-scheduler's words: "0/3 nodes are available: 1 Too many pods, 2 Insufficient cpu."."""
    if not total:
        return NO_NODES
    counts = Counter(text for texts in failures.values() for text in texts)
    reasons = ", ".join(sorted(f"{count} {text}" for text, count in counts.items()))
    return f"0/{total} nodes are available: {reasons}." if reasons else f"0/{total} nodes are available:"


def in_tree_scores(pod: PodInfo, candidates: Sequence[Candidate]) -> dict[str, int]:
    """Node -> in-tree score; more is better."""
    wishes = {found.node.name: fit.preference(pod.fit, found.node) for found in candidates}
    highest = max(wishes.values(), default=0)
    return {
        found.node.name: _least_allocated(pod, found)
        + _AFFINITY_WEIGHT * (HIGHEST * wishes[found.node.name] // highest if highest else 0)
        for found in candidates
    }


def choose(scores: Mapping[str, int], random: Random) -> str:
    """The node with the highest score; a tie is drawn, so that nobody can rely on an order."""
    best = max(scores.values())
    return random.choice([name for name, score in scores.items() if score == best])


def _least_allocated(pod: PodInfo, candidate: Candidate) -> int:
    """How much of CPU and memory is free with the pod there, 0 to 100: the mean of the two."""
    shares = [_free_share(pod, candidate, resource) for resource in _SCORED]
    return sum(shares) // len(shares)


def _free_share(pod: PodInfo, candidate: Candidate, resource: str) -> int:
    allocatable = candidate.node.allocatable.get(resource, 0)
    taken = candidate.used.get(resource, 0) + pod.fit.requests.get(resource, 0)
    return HIGHEST * (allocatable - taken) // allocatable if allocatable and taken <= allocatable else 0
