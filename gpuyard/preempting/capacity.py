"""How many pods of a gang there could be room for by count alone, node by node, once others are gone.

Stands for the cheap check before a dry run of kube-scheduler's preemption. Law: it errs on one side only, so that
what it rules out need not be tried: no node takes more members that want the same devices than by the least that one
of them asks of each resource.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from gpuyard.groups.gangs import Member
from gpuyard.placing.cluster import Cluster, Node
from gpuyard.pods import fit
from gpuyard.pods.fit import Amounts, PodFit
from gpuyard.preempting.stakes import Units


class Capacity:
    """The nodes as the members of one gang meet them."""

    def __init__(self, members: Sequence[Member], cluster: Cluster) -> None:
        alike: dict[frozenset[tuple[str, int]], list[PodFit]] = {}
        for member in members:
            alike.setdefault(frozenset(member.request.totals.items()), []).append(member.fit)
        self._crowds = [_Crowd.of(kinds, cluster) for kinds in alike.values()]

    @property
    def nodes(self) -> set[str]:
        """Those that some member is meant for, and that have what it needs, free or not."""
        return set(chain.from_iterable(crowd.left for crowd in self._crowds))

    def suffices(self, gone: Units) -> bool:
        """Whether there could be room for all members without these pods."""
        freed: dict[str, Counter[str]] = {}
        for found in chain.from_iterable(gone):
            freed.setdefault(found.placement.node, Counter()).update(found.placement.requests)
        return all(crowd.fits(freed) for crowd in self._crowds)


@dataclass(frozen=True, slots=True)
class _Crowd:
    """So many members that want the same devices, the `least` that one of them asks, and what is `left` by node."""

    count: int
    least: Amounts
    left: Mapping[str, Amounts]
    seats: Mapping[str, int]
    """How many each node has room for now."""
    seated: int

    @classmethod
    def of(cls, kinds: Sequence[PodFit], cluster: Cluster) -> "_Crowd":
        least = dict(kinds[0].requests)
        for kind in kinds:
            least = {name: min(amount, kind.requests.get(name, 0)) for name, amount in least.items()}
        least = {name: amount for name, amount in least.items() if amount}
        left = {node.name: _left(node, least) for node in _meant_for(kinds, least, cluster)}
        seats = {name: _seats(found, least, {}) for name, found in left.items()}
        return cls(len(kinds), least, left, seats, sum(seats.values()))

    def fits(self, freed: Mapping[str, Amounts]) -> bool:
        more = (
            _seats(self.left[name], self.least, amounts) - self.seats[name]
            for name, amounts in freed.items()
            if name in self.left
        )
        return self.seated + sum(more) >= self.count


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
