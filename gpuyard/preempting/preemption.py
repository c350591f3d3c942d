"""Which pods have to go so that another, more important one fits, or a whole gang of them.

Stands for DefaultPreemption's SelectVictimsOnNode, with devices. Rules:
- Only pods of lower priority go, and only if that makes all of it fit by everything; nobody goes for nothing.
- The cheapest victims go (`stakes`).
- Looking at every set would take for ever: what is found first by sparing those who can stay, the most costly ones
  first, is bettered among the small sets only.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, islice
from typing import Final

from gpuyard.placing.cluster import Node
from gpuyard.pods.fit import Amounts
from gpuyard.preempting.capacity import Capacity
from gpuyard.preempting.stakes import Candidate, Cost, Stakes, Unit, Units, Victims, cost, violations

SETS: Final = 120
"""So many sets are looked at: all pairs of fifteen pods. kube-scheduler may ask about hundreds of nodes at once."""
_COUNTS: Final = 4 * SETS
"""So often it is counted: a pod for one node, where there are a hundred, has them all; a large gang none too many."""
_MOST: Final = 1000
"""So many units are looked at, the cheapest."""
_FINENESS: Final = 16
"""How many of the cheapest are enough is looked for no closer than this part of them: who can stay is asked next."""
_LAST: Final = 3
"""So many tries are left for that."""


@dataclass(frozen=True, slots=True)
class Preemptor:
    """The pod that needs place: what it books, and whether it `fits` a node as that is then."""

    priority: int
    requests: Amounts
    fits: Callable[[Node], bool]


@dataclass(frozen=True, slots=True)
class Question:
    """Whether it is enough that some units go: `needed` says which of those must; None: not even all would do."""

    priority: int
    needed: Callable[[Units], Units | None]
    capacity: Capacity
    """Who could be enough by count alone: others need not be tried."""
    besides: Units = ()
    """Those who go in any case, and whose places are free already."""
    keeps_budgets: bool = False
    """Whether nobody may go at the expense of a disruption budget."""
    tries: int = 2 * SETS


def choose(
    pod: Preemptor,
    node: Node,
    candidates: Iterable[Candidate],
    stakes: Stakes,
    besides: Sequence[Candidate] = (),
) -> Victims | None:
    """Who has to leave `node`, from which some go `besides`, for the pod; None: nobody need, or it would not help."""

    def needed(gone: Units) -> Units | None:
        return gone if pod.fits(node.releasing(*(found.placement for found in chain(*gone)))) else None

    gone = [(found,) for found in besides]
    asked = Question(pod.priority, needed, Capacity.on(node, pod.requests), gone)
    return cheapest(asked, [(found,) for found in candidates], stakes)


def cheapest(asked: Question, units: Iterable[Unit], stakes: Stakes) -> Victims | None:
    """Who of the units has to go, and those who do so besides; None: nobody need, or it would not help."""

    def loss(gone: Units) -> Cost:
        return cost([*asked.besides, *gone], stakes)

    tries = _Tries(asked)
    if tries.needed(()) is not None:
        return _victims(asked.besides, stakes) if asked.besides else None
    able = [unit for unit in units if all(found.priority < asked.priority for found in unit)]
    able = sorted(able, key=lambda unit: loss([unit]))[:_MOST]
    allowed = _allowed(able, stakes) if asked.keeps_budgets else able
    best = _spared(tries, allowed)
    if best is None and len(allowed) == len(able):
        return None
    sets = chain.from_iterable(combinations(able, size) for size in range(1, len(able) + 1))
    for victims in islice(sets, SETS):
        if asked.keeps_budgets and violations(victims, stakes):
            continue
        better = best is None or loss(victims) < loss(best)
        if better and tries.enough(victims):
            best = victims
    return None if best is None else _victims([*asked.besides, *best], stakes)


def _victims(gone: Units, stakes: Stakes) -> Victims:
    ranked = sorted(chain(*gone), key=lambda found: (-found.priority, found.placement.uid))
    return Victims(tuple(found.placement.uid for found in ranked), violations(gone, stakes))


class _Tries:
    """The question, so many times; then nothing is enough. It is not put where counts alone say no."""

    def __init__(self, asked: Question) -> None:
        self._needed, self.capacity, self.left = asked.needed, asked.capacity, asked.tries
        self._counts = _COUNTS

    def needed(self, gone: Units) -> Units | None:
        if not self.left or not self._counts:
            return None
        self._counts -= 1
        if not self.capacity.suffices(gone):
            return None
        self.left -= 1
        return self._needed(gone)

    def enough(self, gone: Units) -> bool:
        return self.needed(gone) is not None


def _allowed(cheapest_first: Units, stakes: Stakes) -> Units:
    """Those that can all go without violating a budget."""
    allowed: list[Unit] = []
    for unit in cheapest_first:
        if not violations([*allowed, unit], stakes):
            allowed.append(unit)
    return allowed


def _spared(tries: _Tries, cheapest_first: Units) -> Units | None:
    """Of the cheapest that are enough those that are left when everybody who can stay stays."""
    sizes = range(1, len(cheapest_first) + 1)
    enough_by_count = tries.capacity.suffices
    low, high = 0, bisect_left(sizes, True, key=lambda size: enough_by_count(cheapest_first[:size])) + 1
    while (found := tries.needed(cheapest_first[:high])) is None:
        if high >= len(cheapest_first):
            return None
        low, high = high, min(2 * high, len(cheapest_first))
    while high - low > max(1, high // _FINENESS) and tries.left > _LAST:
        middle = (low + high) // 2
        fewer = tries.needed(cheapest_first[:middle])
        low, high, found = (middle, high, found) if fewer is None else (low, middle, fewer)
    fewest = tries.capacity.thinned(cheapest_first[:high])
    if fewest and tries.enough(fewest):
        return fewest  # and nobody of them can stay
    # What is needed was told of one way to place the pods, which with the others back may not be the way chosen. But
    # that the cheapest are enough is known, however few tries are left to find out who of them can stay.
    return _thinned(tries.enough, found if tries.enough(found) else cheapest_first[:high])


def _thinned(enough: Callable[[Units], bool], kept: Units, part: Units | None = None) -> Units:
    """`kept` without all of `part` (None: of itself) that can stay, the most costly ones first."""
    part = kept if part is None else part
    own = set(map(id, part))
    others = [unit for unit in kept if id(unit) not in own]
    if others and enough(others):
        return others
    if len(part) > 1:
        for half in (part[len(part) // 2 :], part[: len(part) // 2]):
            kept = _thinned(enough, kept, half)
    return kept
