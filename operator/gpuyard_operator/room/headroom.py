"""What is taken of each node by count, so that sums can be done before the extender makes a plan.

Stands for the NodeInfo of kube-scheduler's cache. Laws: a place that is reserved is taken; of somebody who may go for
a gang all that he holds counts as left, whether or not he can be spared.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from gpuyard.groups.reservations import Reservation
from gpuyard.pods import fit
from gpuyard.pods.fit import Amounts, NodeFit
from gpuyard_kube.store import Change
from gpuyard_operator.objects.groups import Key
from gpuyard_operator.objects.nodes import NodeFacts
from gpuyard_operator.objects.pods import PodFacts
from gpuyard_operator.room.demands import Kind
from gpuyard_operator.room.rooms import Room

MOST_WISHES: Final = 256
"""So many are remembered of each node."""
MOST_FLOORS: Final = 8
"""For so many priorities it is kept what there is for them."""
_NOTHING: Final[Amounts] = {}


class Headroom:
    """`pod` tells of a pod by its UID, as it is after all that is learnt."""

    def __init__(self, pod: Callable[[str], PodFacts | None]) -> None:
        self._pod, self._nodes = pod, dict[str, NodeFit]()
        self._used: dict[str, dict[int, Counter[str]]] = {}
        """What the pods of each priority take of a node."""
        self._held: dict[str, tuple[str, int, Amounts]] = {}
        """What a pod takes of which node, by UID, and its priority."""
        self._seats: dict[str, str] = {}
        self._reserved: dict[Key, Reservation] = {}
        self._expiries: list[tuple[float, Key]] = []
        self._suited: dict[str, dict[object, bool]] = {}
        self._rooms: dict[int | None, Room] = {}
        self._moved = set[str]()

    def room(self, floor: int | None = None) -> Room:
        """What is left; with a `floor` also what pods of a lower priority hold."""
        if floor not in self._rooms:
            if len(self._rooms) > MOST_FLOORS:
                self._rooms.clear()
            self._rooms[floor] = Room(self._nodes, lambda name: self._taken(name, floor), self._suits)
        return self._rooms[floor]

    def left(self, name: str, resources: Iterable[str]) -> Sequence[int]:
        """How much of each a node has left."""
        found, used = self._nodes.get(name), self._taken(name, None)
        return [found.allocatable.get(r, 0) - used.get(r, 0) if found else 0 for r in resources]

    def below(self, floor: int) -> set[str]:
        """The nodes on which there are pods of a lower priority."""
        return {name for name, held in self._used.items() if min(held) < floor}

    def take_moved(self) -> set[str]:
        """The nodes of which something else is taken, or there, since this was last asked."""
        taken, self._moved = self._moved, set()
        return taken

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

    def expire(self, now: float) -> set[str]:
        """Reservations that have expired keep nothing, whether or not their objects stay: the nodes they kept."""
        freed = set[str]()
        while self._expiries and self._expiries[0][0] <= now:
            expires, key = heapq.heappop(self._expiries)
            kept = self._reserved.get(key)
            if kept is not None and kept.expires == expires:
                self.reserve(key, None)
                freed |= {seat.node for seat in kept.seats}
        return freed

    def _taken(self, name: str, floor: int | None) -> Amounts:
        """By all pods on a node, or by those of this priority or a higher one."""
        found = [each for p, each in self._used.get(name, {}).items() if floor is None or p >= floor]
        return sum(found[1:], found[0]) if len(found) > 1 else found[0] if found else _NOTHING

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
        after = (name, pod.priority, pod.requests) if pod is not None and name and pod.requests else None
        if after is not None:
            self._held[uid] = after
        if before == after:  # most of what is heard of a pod is about other things
            return
        for sign, held in ((-1, before), (1, after)):
            if held is not None:
                self._take(*held, sign)
        for node in {found[0] for found in (before, after) if found is not None}:
            self._count(node)

    def _take(self, name: str, priority: int, amounts: Amounts, sign: int) -> None:
        of = self._used.setdefault(name, {})
        each = of.setdefault(priority, Counter())
        for resource, amount in amounts.items():
            each[resource] += sign * amount
        if not any(each.values()):
            del of[priority]
        if not of:
            del self._used[name]

    def _count(self, name: str) -> None:
        self._moved.add(name)
        for room in self._rooms.values():
            room.count(name)
