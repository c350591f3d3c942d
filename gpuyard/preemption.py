"""Which pods of one node have to go so that another, more important one fits there.

Stands for DefaultPreemption's SelectVictimsOnNode, with devices. Rules:
- Only pods of lower priority go, and only if that makes the pod fit by everything; nobody goes for nothing.
- The cheapest victims go. Cost, in this order: disruption budgets violated, the highest priority among the victims,
  pods lost in all, the other priorities. A gang that falls below its minimum is lost with all its members.
- Looking at every set would take for ever: what is found first by sparing pods one by one is bettered among the
  small sets only.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, islice
from typing import Final

from gpuyard.cluster import Node, Placement
from gpuyard.fit import Amounts

_SETS: Final = 120
"""So many sets are looked at: all pairs of fifteen pods. kube-scheduler may ask about hundreds of nodes at once."""


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
    """The UIDs of the pods to remove, at least one, and how often a disruption budget is violated by that.

    The most important one comes first: kube-scheduler, which chooses the node, looks at its priority alone.
    """

    uids: tuple[str, ...]
    violations: int


@dataclass(frozen=True, slots=True)
class Preemptor:
    """The pod that needs place: what it books, and whether it `fits` a node as that is then."""

    priority: int
    requests: Amounts
    fits: Callable[[Node], bool]


Cost = tuple[int, int, int, tuple[int, ...], tuple[str, ...]]
Pods = Sequence[Candidate]


def choose(pod: Preemptor, node: Node, candidates: Iterable[Candidate], stakes: Stakes) -> Victims | None:
    """Who has to leave `node` for the pod; None: nobody need, or it would not help."""
    able = [found for found in candidates if found.priority < pod.priority]
    able.sort(key=lambda found: _cost([found], stakes))
    if pod.fits(node) or not pod.fits(_without(node, able)):
        return None
    best = _spared(pod, node, able)
    cost = _cost(best, stakes)
    for victims in _small_sets(able, _short(pod, node)):
        found = _cost(victims, stakes)
        if found < cost and pod.fits(_without(node, victims)):
            best, cost = victims, found
    ranked = sorted(best, key=lambda found: (-found.priority, found.placement.uid))
    return Victims(tuple(found.placement.uid for found in ranked), cost[0])


def _spared(pod: Preemptor, node: Node, cheapest_first: Pods) -> Pods:
    """Those that are left when everybody who can stay stays, the most costly ones first."""
    victims = list(cheapest_first)
    for found in reversed(cheapest_first):
        others = [victim for victim in victims if victim is not found]
        if pod.fits(_without(node, others)):
            victims = others
    return victims


def _short(pod: Preemptor, node: Node) -> Amounts:
    """How much the node lacks by count alone: a set that books less than that need not be tried."""
    left = {name: node.fit.allocatable.get(name, 0) - node.used.get(name, 0) for name in pod.requests}
    return {name: amount - left[name] for name, amount in pod.requests.items() if amount > left[name]}


def _small_sets(able: Pods, short: Amounts) -> Iterator[Pods]:
    sets = chain.from_iterable(combinations(able, size) for size in range(1, len(able) + 1))
    for victims in islice(sets, _SETS):
        booked = [found.placement.requests for found in victims]
        if all(sum(one.get(name, 0) for one in booked) >= lack for name, lack in short.items()):
            yield victims


def _cost(victims: Pods, stakes: Stakes) -> Cost:
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


def _without(node: Node, victims: Pods) -> Node:
    return node.releasing(*(found.placement for found in victims))
