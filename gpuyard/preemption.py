"""Which pods of one node have to go so that another, more important one fits there.

Stands for DefaultPreemption's SelectVictimsOnNode, with devices. Rules:
- Only pods of lower priority go, and only if that makes the pod fit by everything; nobody goes for nothing.
- The cheapest victims go. Cost, in this order: disruption budgets violated, the highest priority among the victims,
  pods lost in all, the other priorities. A gang that falls below its minimum is lost with all its members.
- Looking at every set would take for ever: what is found first by sparing pods one by one is bettered among the
  small sets only.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, islice
from typing import Final

from gpuyard.cluster import Node, Placement

_SETS: Final = 300
"""So many sets are looked at: all pairs of two dozen pods."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pod on the node. `group` and `budgets` name its gang and the disruption budgets that cover it."""

    priority: int
    placement: Placement
    group: str = ""
    budgets: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Gang:
    """A gang with `bound` members in the cluster, of which it needs so many."""

    bound: int
    needed: int


@dataclass(frozen=True, slots=True)
class Stakes:
    """What else is lost: gangs by name, and how many pods each disruption budget still lets go."""

    gangs: Mapping[str, Gang] = field(default_factory=dict)
    allowed: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Victims:
    """The UIDs of the pods to remove, at least one, and how often a disruption budget is violated by that."""

    uids: tuple[str, ...]
    violations: int


Cost = tuple[int, int, int, tuple[int, ...], tuple[str, ...]]


def choose(
    priority: int,
    node: Node,
    candidates: Iterable[Candidate],
    fits: Callable[[Node], bool],
    stakes: Stakes,
) -> Victims | None:
    """The victims for a pod of this priority that `fits` once they are gone; None: none are needed, or none help."""

    def cost(victims: Sequence[Candidate]) -> Cost:
        return _cost(victims, stakes)

    def frees(victims: Iterable[Candidate]) -> bool:
        return fits(_without(node, victims))

    able = sorted(
        (found for found in candidates if found.priority < priority), key=lambda found: cost([found])
    )
    if fits(node) or not frees(able):
        return None
    best = _spared(able, frees)
    small = chain.from_iterable(combinations(able, size) for size in range(1, len(able) + 1))
    for victims in islice(small, _SETS):
        if cost(victims) < cost(best) and frees(victims):
            best = victims
    return Victims(tuple(sorted(found.placement.uid for found in best)), cost(best)[0])


def _spared(
    cheapest_first: Sequence[Candidate], frees: Callable[[Iterable[Candidate]], bool]
) -> tuple[Candidate, ...]:
    """Those that are left when everybody who can stay stays, the most costly ones first."""
    victims = list(cheapest_first)
    for found in reversed(cheapest_first):
        others = [victim for victim in victims if victim is not found]
        if frees(others):
            victims = others
    return tuple(victims)


def _cost(victims: Sequence[Candidate], stakes: Stakes) -> Cost:
    covered = Counter(budget for found in victims for budget in found.budgets)
    violations = sum(max(0, count - stakes.allowed.get(budget, 0)) for budget, count in covered.items())
    members = Counter(found.group for found in victims if found.group)
    lost = len(victims) + sum(_others_lost(stakes.gangs.get(name), n) for name, n in members.items())
    priorities = sorted((found.priority for found in victims), reverse=True)
    uids = tuple(sorted(found.placement.uid for found in victims))
    return violations, priorities[0], lost, tuple(priorities), uids


def _others_lost(gang: Gang | None, victims: int) -> int:
    if gang is None or gang.bound - victims >= gang.needed:
        return 0
    return max(0, gang.bound - victims)


def _without(node: Node, victims: Iterable[Candidate]) -> Node:
    for found in victims:
        node = node.releasing(found.placement)
    return node
