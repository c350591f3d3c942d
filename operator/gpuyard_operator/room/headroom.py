"""What nodes have left by count, and whether that could be enough for a gang: sums, where the extender makes a plan.

Stands for NodeResourcesFit's queueing hints. Laws: what does not fit by these sums no plan finds, for kube-scheduler
counts so too, places that are reserved being taken; what does fit may be refused all the same, for its shape.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Final

from gpuyard.groups.reservations import Reservation
from gpuyard.pods import fit
from gpuyard.pods.fit import Amounts, NodeFit
from gpuyard.pods.requests import is_device_resource
from gpuyard_kube.store import Change
from gpuyard_operator.objects.groups import Key
from gpuyard_operator.objects.nodes import NodeFacts
from gpuyard_operator.objects.pods import PodFacts
from gpuyard_operator.room.demands import Demand, Kind
from gpuyard_operator.room.queueing_hints import ANYWHERE

MOST_WISHES: Final = 256
"""So many are remembered of each node."""
_NOTHING: Final[Amounts] = {}


class Headroom:
    """`pod` tells of a pod by its UID, as it is after all that is learnt."""

    def __init__(self, pod: Callable[[str], PodFacts | None]) -> None:
        self._pod, self._nodes = pod, dict[str, NodeFit]()
        self._used: dict[str, Counter[str]] = {}
        self._held: dict[str, tuple[str, Amounts]] = {}
        """What a pod takes of which node, by UID."""
        self._seats: dict[str, str] = {}
        self._reserved: dict[Key, Reservation] = {}
        self._expiries: list[tuple[float, Key]] = []
        self._having: dict[tuple[str, int], set[str]] = {}
        """The nodes with so many devices of a resource left: of a full cluster these are few."""
        self._has: dict[str, list[tuple[str, int]]] = {}
        self._suited: dict[str, dict[object, bool]] = {}

    def pods(self, changes: Iterable[Change[PodFacts]]) -> None:
        for change in changes:
            self._hold(change.uid)

    def nodes(self, changes: Iterable[Change[NodeFacts]]) -> None:
        for it in changes:
            for name in {node.name for node in (it.before, it.after) if node is not None}:
                self._suited.pop(name, None)
                self._nodes.pop(name, None)
                if it.after is not None:
                    self._nodes[name] = it.after.fit
                self._count(name)

    def reserve(self, key: Key, found: Reservation | None) -> None:
        """The Reservation of a group, as last seen."""
        before = self._reserved.pop(key, None)
        touched = {seat.uid for reservation in (before, found) if reservation for seat in reservation.seats}
        for uid in touched:
            self._seats.pop(uid, None)
        if found is not None:
            self._reserved[key] = found
            heapq.heappush(self._expiries, (found.expires, key))
            self._seats |= {seat.uid: seat.node for seat in found.seats}
        for uid in touched:
            self._hold(uid)

    def expire(self, now: float) -> None:
        """Reservations that have expired keep nothing, whether or not their objects stay."""
        while self._expiries and self._expiries[0][0] <= now:
            expires, key = heapq.heappop(self._expiries)
            kept = self._reserved.get(key)
            if kept is not None and kept.expires == expires:
                self.reserve(key, None)

    def may_help(self, demand: Demand, names: Collection[str]) -> bool:
        """Whether one of these nodes could take a member; of members without devices sums do not say."""
        nodes = (self._nodes[name] for name in names if name in self._nodes)
        if demand.has_others or ANYWHERE in names:
            return True
        return any(self._takes(kind, node) for node in nodes for kind in demand.kinds)

    def may_do(self, demand: Demand) -> bool:
        """Whether all that is left could be enough."""
        found = Counter[str]()
        for kind in demand.kinds:
            for domain, places in self._places(kind, demand.label).items():
                found[domain] += min(places, kind.members)
        enough = (domain for domain, members in found.items() if members >= demand.needed)
        return demand.needed <= 0 or any(self._may_share(demand, domain) for domain in enough)

    def _may_share(self, demand: Demand, domain: str) -> bool:
        """Whether different kinds, each of which would find room, could do so together."""
        asked = sorted(kind.count for kind in demand.kinds for _ in range(kind.members))
        least = {kind.resource: asked[0] for kind in demand.kinds}.items()
        nodes = (found for resource, count in least for found in self._with(resource, count))
        counts = (count for node, count in nodes if _domain(node, demand.label) == domain)
        wanted = sum(asked[: demand.needed])
        return any(left >= wanted for left in accumulate(counts))

    def _places(self, kind: Kind, label: str) -> Mapping[str, int]:
        """How many members of a kind there is room for, by domain."""
        found = Counter[str]()
        for node, _ in self._with(kind.resource, kind.count):
            domain = _domain(node, label)
            if domain is not None:
                found[domain] += self._takes(kind, node)
            if not label and found[""] >= kind.members:
                break
        return found

    def _takes(self, kind: Kind, node: NodeFit) -> int:
        """How many members of a kind a node has room for."""
        if not self._suits(kind, node):
            return 0
        used, wants = self._used.get(node.name, _NOTHING), kind.fit.requests
        return max(
            0, min((node.allocatable.get(r, 0) - used.get(r, 0)) // wants[r] for r in wants if wants[r])
        )

    def _with(self, resource: str, least: int) -> Iterator[tuple[NodeFit, int]]:
        for (of, count), names in self._having.items():
            if of == resource and count >= least:
                yield from ((self._nodes[name], count) for name in names)

    def _suits(self, kind: Kind, node: NodeFit) -> bool:
        known = self._suited.setdefault(node.name, {})
        if kind.wishes not in known:
            if len(known) >= MOST_WISHES:
                known.clear()
            known[kind.wishes] = fit.misplaced(kind.fit, node) is None
        return known[kind.wishes]

    def _hold(self, uid: str) -> None:
        pod, before = self._pod(uid), self._held.pop(uid, None)
        name = (pod.node or self._seats.get(uid, "")) if pod is not None else ""
        after = (name, pod.requests) if pod is not None and name and pod.requests else None
        if after is not None:
            self._held[uid] = after
        if before == after:  # most of what is heard of a pod is about other things
            return
        if before is not None:
            self._used[before[0]].subtract(before[1])
        if after is not None:
            self._used.setdefault(name, Counter()).update(after[1])
        for node in {found[0] for found in (before, after) if found is not None}:
            self._count(node)

    def _count(self, name: str) -> None:
        """Enter a node by what it has left."""
        for entry in self._has.pop(name, ()):
            self._having[entry].discard(name)
            if not self._having[entry]:
                del self._having[entry]
        if name not in self._nodes:
            return
        used = self._used.get(name, _NOTHING)
        offers = ((r, n - used.get(r, 0)) for r, n in self._nodes[name].allocatable.items())
        self._has[name] = [(r, n) for r, n in offers if n > 0 and is_device_resource(r)]
        for entry in self._has[name]:
            self._having.setdefault(entry, set()).add(name)


def _domain(node: NodeFit, label: str) -> str | None:
    return node.labels.get(label) if label else ""
