"""Trying on each node whether removing pods of lower priority would help.

Stands for DryRunPreemption. A node that only an extender refuses needs no victim here, which upstream takes for an
error: so an extender is never asked whom to remove there (kubernetes issue 139270).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from gpuyard_cluster.scheduler import victims
from gpuyard_cluster.scheduler.budgets import Budget
from gpuyard_cluster.scheduler.cache import ClusterCache
from gpuyard_cluster.scheduler.pods import PodInfo
from gpuyard_cluster.scheduler.victims import Victims

FEWEST_CANDIDATES, CANDIDATES_PERCENT = 100, 10
"""Of a large cluster so many candidates are enough (minCandidateNodesAbsolute, minCandidateNodesPercentage)."""


@dataclass(frozen=True, slots=True)
class DryRun:
    """What was found: the candidates, and of each other node that refuses the texts, or the error that it makes."""

    candidates: dict[str, Victims] = field(default_factory=dict)
    refusals: list[tuple[str, ...]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def note(self, node: str, found: Victims | tuple[str, ...]) -> None:
        if not isinstance(found, Victims):
            self.refusals.append(found)
        elif found.pods:
            self.candidates[node] = found
        else:
            self.errors.append(f'expected at least one victim pod on node "{node}"')

    @property
    def harmless(self) -> bool:
        """Whether there is a candidate that violates no disruption budget."""
        return any(not found.violations for found in self.candidates.values())


def dry_run(
    pod: PodInfo, nodes: Sequence[str], cache: ClusterCache, limits: Sequence[Budget], random: Random
) -> DryRun:
    """Try the nodes, from any one of them on, until there are enough candidates."""
    begin = random.randrange(len(nodes)) if nodes else 0
    enough = max(FEWEST_CANDIDATES, len(nodes) * CANDIDATES_PERCENT // 100)
    found = DryRun()
    for name in (*nodes[begin:], *nodes[:begin]):
        if len(found.candidates) >= enough and found.harmless:
            break
        lower = cache.booked_below(name, pod.priority)
        if not lower:
            found.refusals.append((victims.NO_VICTIMS,))
            continue
        # Which of two equals goes must not depend on the order in which they are held.
        random.shuffle(lower)
        (candidate,) = cache.candidates(pod, [name])
        found.note(name, victims.select(pod, candidate, lower, limits))
    return found
