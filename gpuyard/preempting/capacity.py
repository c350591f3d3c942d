"""How many pods of a gang there could be room for by count alone, node by node, once others are gone.

Stands for the cheap check before a dry run of kube-scheduler's preemption. Law: it errs on one side only, so that
what it rules out need not be tried: no node takes more members that want the same devices than by the least that one
of them asks of each resource.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from gpuyard.groups.gangs import Member
from gpuyard.placing.cluster import Cluster, Node
from gpuyard.pods import fit
from gpuyard.pods.fit import Amounts, PodFit
from gpuyard.preempting.stakes import Unit, Units


@dataclass(frozen=True, slots=True)
class Capacity:
    """The nodes as pods that have to start together meet them; those that want the same devices are one crowd."""

    crowds: tuple["_Crowd", ...]

    @classmethod
    def of(cls, members: Sequence[Member], cluster: Cluster) -> "Capacity":
        alike: dict[frozenset[tuple[str, int]], list[PodFit]] = {}
        for member in members:
            alike.setdefault(frozenset(member.request.totals.items()), []).append(member.fit)
        least = ((kinds, _least(kinds)) for kinds in alike.values())
        found = (_Crowd.on(_meant_for(kinds, asked, cluster), asked, len(kinds)) for kinds, asked in least)
        return cls(tuple(found))

    @classmethod
    def on(cls, node: Node, requests: Amounts) -> "Capacity":
        """For one pod, on this node alone."""
        return cls((_Crowd.on((node,), {name: n for name, n in requests.items() if n}, 1),))

    @property
    def nodes(self) -> set[str]:
        """Those that some member is meant for, and that have what it needs, free or not."""
        return set(chain.from_iterable(crowd.left for crowd in self.crowds))

    def suffices(self, gone: Units) -> bool:
        """Whether there could be room for all members without these pods."""
        freed = _Freed(gone)
        return all(crowd.spare + crowd.more(freed, freed) >= 0 for crowd in self.crowds)

    def thinned(self, gone: Units) -> Units:
        """Of pods whose going suffices those left when all stay who can, the last ones first.

        Only the nodes of whom it asks about are counted anew: it asks about hundreds.
        """
        freed, kept = _Freed(gone), list[Unit]()
        spare = [crowd.spare + crowd.more(freed, freed) for crowd in self.crowds]
        for unit in reversed(gone):
            nodes = {found.placement.node for found in unit}
            before = [crowd.more(nodes, freed) for crowd in self.crowds]
            freed.add(unit, -1)
            after = [crowd.more(nodes, freed) for crowd in self.crowds]
            left = [n - had + has for n, had, has in zip(spare, before, after, strict=True)]
            if all(n >= 0 for n in left):
                spare = left
            else:
                freed.add(unit, 1)
                kept.append(unit)
        return kept[::-1]


class _Freed(dict[str, dict[str, int]]):
    """What some pods book, by node."""

    def __init__(self, gone: Units) -> None:
        for unit in gone:
            self.add(unit, 1)

    def add(self, unit: Unit, sign: int) -> None:
        for found in unit:
            there = self.setdefault(found.placement.node, {})
            for name, amount in found.placement.requests.items():
                there[name] = there.get(name, 0) + sign * amount


@dataclass(frozen=True, slots=True)
class _Crowd:
    """Members that want the same devices: the `least` that one of them asks, and what is `left` by node."""

    least: Amounts
    left: Mapping[str, Amounts]
    seats: Mapping[str, int]
    """How many each node has room for now."""
    spare: int
    """How many more there is room for now than there are of them; below 0: for how many there is none."""

    @classmethod
    def on(cls, nodes: Iterable[Node], least: Amounts, count: int) -> "_Crowd":
        left = {node.name: _left(node, least) for node in nodes}
        seats = {name: _seats(found, least, {}) for name, found in left.items()}
        return cls(least, left, seats, sum(seats.values()) - count)

    def more(self, nodes: Iterable[str], freed: Mapping[str, Amounts]) -> int:
        """How many more than now these nodes would have room for."""
        there = (name for name in nodes if name in self.left)
        return sum(
            _seats(self.left[name], self.least, freed.get(name, {})) - self.seats[name] for name in there
        )


def _least(kinds: Sequence[PodFit]) -> Amounts:
    least = dict(kinds[0].requests)
    for kind in kinds:
        least = {name: min(amount, kind.requests.get(name, 0)) for name, amount in least.items()}
    return {name: amount for name, amount in least.items() if amount}


def _meant_for(kinds: Iterable[PodFit], least: Amounts, cluster: Cluster) -> Iterator[Node]:
    different = list[PodFit]()
    for kind in kinds:
        if kind not in different:
            different.append(kind)
    for node in cluster.nodes.values():
        if _offers(node, least) and any(_is_meant_for(kind, node) for kind in different):
            yield node


def _is_meant_for(pod: PodFit, node: Node) -> bool:
    return _offers(node, pod.requests) and fit.misplaced(pod, node.fit) is None


def _offers(node: Node, amounts: Amounts) -> bool:
    return all(node.fit.allocatable.get(name, 0) >= amount for name, amount in amounts.items())


def _left(node: Node, amounts: Amounts) -> dict[str, int]:
    return {name: node.fit.allocatable.get(name, 0) - node.used.get(name, 0) for name in amounts}


def _seats(left: Amounts, least: Amounts, freed: Amounts) -> int:
    return max(0, min((left[name] + freed.get(name, 0)) // amount for name, amount in least.items()))
