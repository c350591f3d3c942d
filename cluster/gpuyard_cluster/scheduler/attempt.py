"""One scheduling attempt: from a pod to the node that it shall go to, or to why there is none.

Stands for kube-scheduler's schedulePod. Order of things: the nominated node alone; in-tree filters; extender filters
one after the other, each with what the last one left; with more than one node left, scores, where extenders add to
the in-tree ones.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from operator import itemgetter
from random import Random

from gpuyard_cluster.scheduler.cache import Candidate, ClusterCache
from gpuyard_cluster.scheduler.cycle import (
    Filtered,
    Rejection,
    choose,
    filter_nodes,
    in_tree_scores,
    unschedulable_message,
)
from gpuyard_cluster.scheduler.extenders import Extender, ExtenderError
from gpuyard_cluster.scheduler.pods import PodInfo

_TOLD = 8
"""So many nodes, the best, are named with their scores."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Where the pod shall go. `scores` is empty when there was nothing to choose from."""

    node: str
    left: int
    scores: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Unschedulable:
    """None of so many nodes does, and why; the pod waits for a change."""

    total: int
    failures: Mapping[str, Rejection]

    @property
    def message(self) -> str:
        counts = Counter(text for found in self.failures.values() for text in found.texts)
        return unschedulable_message(self.total, counts)


@dataclass(frozen=True, slots=True)
class Failed:
    """Something that was asked did not answer; the pod waits for the end of its back-off."""

    message: str


Outcome = Chosen | Unschedulable | Failed


async def attempt(
    pod: PodInfo, cache: ClusterCache, extenders: Sequence[Extender], random: Random
) -> Outcome:
    """Find a node for `pod` in the cluster as `cache` holds it when the attempt begins."""
    asked = [found for found in extenders if found.interested(pod)]
    candidates = cache.candidates(pod)
    try:
        kept = await _nominated(pod, cache, asked) or await _filter(pod, candidates, asked)
    except ExtenderError as error:
        return Failed(str(error))
    if not kept.feasible:
        return Unschedulable(len(candidates), kept.failures)
    if len(kept.feasible) == 1:
        return Chosen(kept.feasible[0].node.name, 1, {})
    scores = await _scores(pod, kept.feasible, asked)
    return Chosen(choose(scores, random), len(kept.feasible), scores)


def describe(outcome: Outcome) -> str:
    """In one line, for people."""
    match outcome:
        case Chosen(node=node, left=left, scores=scores):
            best = nlargest(_TOLD, scores.items(), key=itemgetter(1))
            said = ", ".join(f"{name} {score}" for name, score in sorted(best))
            return f"filter leaves {left}, goes to {node}" + (f" (scores {said})" if said else "")
        case Unschedulable():
            return outcome.message
        case Failed(message=message):
            return f"attempt failed: {message}"


async def _nominated(pod: PodInfo, cache: ClusterCache, extenders: Sequence[Extender]) -> Filtered | None:
    """The nominated node, when it does; an error here only means that all nodes are looked at."""
    node = cache.nominator.node_of(pod.uid)
    if not node:
        return None
    try:
        kept = await _filter(pod, cache.candidates(pod, [node]), extenders)
    except ExtenderError:
        return None
    return kept if kept.feasible else None


async def _filter(pod: PodInfo, candidates: Sequence[Candidate], extenders: Sequence[Extender]) -> Filtered:
    kept = filter_nodes(pod, candidates)
    for extender in extenders:
        if not (extender.config.filter_verb and kept.feasible):
            continue
        try:
            left = await extender.filter(pod, kept.feasible)
        except ExtenderError:
            if not extender.config.ignorable:
                raise
        else:
            kept = Filtered(left.feasible, {**kept.failures, **left.failures})
    return kept


async def _scores(
    pod: PodInfo, candidates: Sequence[Candidate], extenders: Sequence[Extender]
) -> dict[str, int]:
    scores = in_tree_scores(pod, candidates)
    for extender in extenders:
        if extender.config.prioritize_verb:
            for name, score in (await extender.prioritize(pod, candidates)).items():
                if name in scores:
                    scores[name] += score
    return scores
