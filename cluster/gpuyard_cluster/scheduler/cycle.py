"""The pure half of a scheduling cycle: filter by in-tree fit, score, choose, and put a failure into words.

Stands for kube-scheduler's Filter and Score plugins and for FitError. In-tree scores are those that matter to a small
cluster: LeastAllocated of CPU and memory (weight 1) and preferred node affinity (weight 2), each 0 to 100.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from gpuyard.pods import fit
from gpuyard_cluster.scheduler.cache import Candidate
from gpuyard_cluster.scheduler.pods import PodInfo

HIGHEST = 100
_AFFINITY_WEIGHT = 2
_SCORED = ("cpu", "memory")
_MOST_SHAPES = 64
"""So many shapes of pods a node remembers."""
NO_NODES = "no nodes available to schedule pods"


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a node does not do. `resolvable`: perhaps it does when pods are removed from it."""

    texts: tuple[str, ...]
    resolvable: bool


@dataclass(frozen=True, slots=True)
class _Judgement:
    """What one shape of pod meets on a node: why it does not do, else its two scores."""

    rejection: Rejection | None
    free: int
    wish: int


@dataclass(frozen=True, slots=True)
class Filtered:
    """The nodes that are left, and why each of the others is not."""

    feasible: tuple[Candidate, ...]
    failures: Mapping[str, Rejection]


def filter_nodes(pod: PodInfo, candidates: Iterable[Candidate]) -> Filtered:
    """The candidates that the pod fits by everything in-tree."""
    feasible, failures, shape = [], {}, _shape(pod)
    for candidate in candidates:
        rejection = _judged(pod, shape, candidate).rejection
        if rejection is None:
            feasible.append(candidate)
        else:
            failures[candidate.node.name] = rejection
    return Filtered(tuple(feasible), failures)


def unschedulable_message(total: int, counts: Mapping[str, int]) -> str:
    """In kube-scheduler's words: "0/3 nodes are available: 1 Too many pods, 2 Insufficient cpu."."""
    if not total:
        return NO_NODES
    reasons = ", ".join(sorted(f"{count} {text}" for text, count in counts.items()))
    return f"0/{total} nodes are available: {reasons}." if reasons else f"0/{total} nodes are available:"


def in_tree_scores(pod: PodInfo, candidates: Sequence[Candidate]) -> dict[str, int]:
    """Node -> in-tree score; more is better."""
    shape = _shape(pod)
    judged = [(found.node.name, _judged(pod, shape, found)) for found in candidates]
    highest = max((found.wish for _, found in judged), default=0)
    return {
        name: found.free + _AFFINITY_WEIGHT * (HIGHEST * found.wish // highest if highest else 0)
        for name, found in judged
    }


def choose(scores: Mapping[str, int], random: Random) -> str:
    """The node with the highest score; a tie is drawn, so that nobody can rely on an order."""
    best = max(scores.values())
    return random.choice([name for name, score in scores.items() if score == best])


def _shape(pod: PodInfo) -> str:
    """All of a pod that nodes are judged by. A text, because those remember their hashes."""
    return repr((sorted(pod.fit.requests.items()), pod.fit.wishes))


def _judged(pod: PodInfo, shape: str, candidate: Candidate) -> _Judgement:
    """A node is judged once for each shape of pod, for as long as it stays as it is."""
    found: _Judgement | None = candidate.judged.get(shape)
    if found is None:
        if len(candidate.judged) >= _MOST_SHAPES:
            candidate.judged.clear()
        found = candidate.judged[shape] = _judgement(pod, candidate)
    return found


def _judgement(pod: PodInfo, candidate: Candidate) -> _Judgement:
    shortfalls = fit.check(pod.fit, candidate.node, candidate.used)
    return _Judgement(
        rejection=_rejection(pod, candidate, shortfalls) if shortfalls else None,
        free=_least_allocated(pod, candidate),
        wish=fit.preference(pod.fit, candidate.node),
    )


def _rejection(pod: PodInfo, candidate: Candidate, shortfalls: Sequence[fit.Shortfall]) -> Rejection:
    """What a pod is not meant for, or an empty node has not enough for, no removal changes."""
    allocatable, requests = candidate.node.allocatable, pod.fit.requests
    return Rejection(
        texts=tuple(found.text for found in shortfalls),
        resolvable=all(
            found.resource and requests[found.resource] <= allocatable.get(found.resource, 0)
            for found in shortfalls
        ),
    )


def _least_allocated(pod: PodInfo, candidate: Candidate) -> int:
    """How much of CPU and memory is free with the pod there, 0 to 100: the mean of the two."""
    shares = [_free_share(pod, candidate, resource) for resource in _SCORED]
    return sum(shares) // len(shares)


def _free_share(pod: PodInfo, candidate: Candidate, resource: str) -> int:
    allocatable = candidate.node.allocatable.get(resource, 0)
    taken = candidate.used.get(resource, 0) + pod.fit.requests.get(resource, 0)
    return HIGHEST * (allocatable - taken) // allocatable if allocatable and taken <= allocatable else 0
