"""What is lost when pods have to go, and which loss is the smaller one.

Stands for what kube-scheduler's preemption compares candidates by. Cost, in this order: disruption budgets violated,
the highest priority among the victims, pods lost in all, the other priorities, the age of the oldest. A gang that
falls below its minimum is lost with all its members.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from gpuyard.placing.cluster import Placement


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pod that holds a place. `group` and `budgets` name its gang and the disruption budgets that cover it."""

    priority: int
    placement: Placement
    group: str = ""
    budgets: frozenset[str] = frozenset()
    started: float = 0.0
    """When, in seconds since the epoch: the younger one goes."""


Unit = tuple[Candidate, ...]
"""Pods of which either all go or none."""
Units = Sequence[Unit]


@dataclass(frozen=True, slots=True)
class Gang:
    """A gang with `bound` members in the cluster that stay, of which it needs so many."""

    bound: int
    needed: int


@dataclass(frozen=True, slots=True)
class Stakes:
    """What else is lost: gangs by name, and how many pods each disruption budget still lets go.

    Both are what is left once those are `gone` (UIDs) who go for others: these cost no budget and no gang again.
    """

    gangs: Mapping[str, Gang] = field(default_factory=dict)
    allowed: Mapping[str, int] = field(default_factory=dict)
    gone: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Victims:
    """The UIDs of the pods to remove, at least one, and how often a disruption budget is violated by that.

    The most important one comes first: kube-scheduler, which chooses the node, looks at its priority alone.
    """

    uids: tuple[str, ...]
    violations: int


Cost = tuple[int, int, int, tuple[int, ...], tuple[float, ...], tuple[str, ...]]


def cost(victims: Units, stakes: Stakes) -> Cost:
    pods = list(chain(*victims))
    members = Counter(found.group for found in _more(victims, stakes) if found.group)
    lost = len(pods) + sum(_others_lost(stakes.gangs.get(name), n) for name, n in members.items())
    priorities = sorted((found.priority for found in pods), reverse=True)
    ages = tuple(-moment for moment in sorted(found.started for found in pods))
    uids = tuple(sorted(found.placement.uid for found in pods))
    return violations(victims, stakes), priorities[0], lost, tuple(priorities), ages, uids


def violations(victims: Units, stakes: Stakes) -> int:
    covered = Counter(budget for found in _more(victims, stakes) for budget in found.budgets)
    return sum(max(0, count - stakes.allowed.get(budget, 0)) for budget, count in covered.items())


def _more(victims: Units, stakes: Stakes) -> Iterator[Candidate]:
    return (found for found in chain(*victims) if found.placement.uid not in stakes.gone)


def _others_lost(gang: Gang | None, victims: int) -> int:
    """Of a gang that this makes too few: one that has lost so many before loses nobody by it."""
    if gang is None or not gang.bound - victims < gang.needed <= gang.bound:
        return 0
    return max(0, gang.bound - victims)
