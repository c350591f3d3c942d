"""Which pods of a node have to go so that another fits there, and which node loses least by it.

Stands for SelectVictimsOnNode and pickOneNodeForPreemption of kube-scheduler. Laws: none but pods of lower priority
go, and each of them has to; who would violate a disruption budget stays rather than who would not, then the more
important ones do: of higher priority, or running for longer.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from gpuyard.pods import fit
from gpuyard_cluster.scheduler import budgets
from gpuyard_cluster.scheduler.budgets import Budget
from gpuyard_cluster.scheduler.cache import Candidate
from gpuyard_cluster.scheduler.pods import PodInfo

NO_VICTIMS = "No preemption victims found for incoming pod"
_ABOVE_ZERO = 2**31
"""Added to each priority, so that of two sets with negative ones the smaller does not count as the worse."""


@dataclass(frozen=True, slots=True)
class Victims:
    """Who goes, the most important first, and how often a disruption budget is violated by that."""

    pods: tuple[PodInfo, ...]
    violations: int


def select(
    pod: PodInfo, node: Candidate, lower: Sequence[PodInfo], limits: Sequence[Budget]
) -> Victims | tuple[str, ...]:
    """Who of `lower`, all pods of lower priority on `node`, has to go; else the texts of what still is in the way.

    No victims at all: the pod fits by what is looked at here.
    """
    used = Counter(node.used)
    for other in lower:
        used.subtract(other.fit.requests)
    if shortfalls := fit.check(pod.fit, node.node, used):
        return tuple(found.text for found in shortfalls)
    ranked = sorted(lower, key=_importance)
    violating = budgets.violating(ranked, limits)
    gone = set()
    for other in sorted(ranked, key=lambda found: found.uid not in violating):
        used.update(other.fit.requests)
        if fit.check(pod.fit, node.node, used):
            used.subtract(other.fit.requests)
            gone.add(other.uid)
    return Victims(tuple(found for found in ranked if found.uid in gone), len(gone & violating))


def pick(found: Mapping[str, Victims], random: Random) -> str:
    """The node of several that loses least; a tie is drawn, as upstream's order is that of a map."""
    losses = {name: _loss(victims) for name, victims in found.items()}
    least = min(loss for loss, _ in losses.values())
    latest = max(started for loss, started in losses.values() if loss == least)
    return random.choice([name for name, loss in losses.items() if loss == (least, latest)])


def _importance(pod: PodInfo) -> tuple[int, str]:
    return -pod.priority, pod.started


def _loss(victims: Victims) -> tuple[tuple[int, ...], str]:
    """What a node loses, the less the better, and since when its highest victims have run, the later the better."""
    pods = victims.pods
    total = sum(found.priority + _ABOVE_ZERO for found in pods)
    # The first counts as the highest, whatever order an extender gave.
    return (victims.violations, pods[0].priority, total, len(pods)), _started(pods)


def _started(pods: Iterable[PodInfo]) -> str:
    return min(pods, key=_importance).started
