"""Which reserved places went to somebody else, so that it is noticed at once.

Stands for the node cache that kube-scheduler's Reserve plugins look at. Law: it only tells which seats are lost; a
device is held by whoever the kubelet, or else the plan, says, until that pod ends or is gone.
"""

from collections.abc import Iterable

from gpuyard.annotations import ids
from gpuyard.groups.reservations import Reservation, Seat
from gpuyard_kube.store import Change, Index
from gpuyard_operator.groups import Key
from gpuyard_operator.nodes import NodeFacts
from gpuyard_operator.pods import PodFacts


class LostSeats:
    """What learns of pods or nodes returns the keys of the groups whose seats may be lost by it."""

    def __init__(self) -> None:
        self._holders = Index[str, PodFacts](lambda pod: pod.node if pod.devices else None)
        self._gone: set[str] = set()
        self._seats: dict[Key, tuple[Seat, ...]] = {}
        self._keys: dict[str, set[Key]] = {}

    def of(self, key: Key) -> frozenset[str]:
        """The UIDs of the reserved members of a group whose devices another pod holds, or whose node is gone.

        Of members that wait: the devices of a bound one are held, by itself.
        """
        return frozenset(seat.uid for seat in self._seats.get(key, ()) if self._is_lost(seat))

    def reserve(self, key: Key, found: Reservation | None) -> None:
        """The Reservation of a group, as last seen."""
        for seat in self._seats.pop(key, ()):
            self._keys.get(seat.node, set()).discard(key)
        if found is not None:
            self._seats[key] = found.seats
        for seat in self._seats.get(key, ()):
            self._keys.setdefault(seat.node, set()).add(key)

    def pods(self, changes: Iterable[Change[PodFacts]]) -> set[Key]:
        """Some pods have changed."""
        changed = list(changes)
        self._holders.take(changed)
        return self._on(it.after.node for it in changed if it.after and it.after.devices - _held(it.before))

    def nodes(self, changes: Iterable[Change[NodeFacts]]) -> set[Key]:
        """Some nodes have changed."""
        changed = list(changes)
        gone = {it.before.name for it in changed if it.before and not it.after}
        self._gone = (self._gone | gone) - {it.after.name for it in changed if it.after}
        return self._on(gone)

    def _on(self, nodes: Iterable[str]) -> set[Key]:
        return set().union(*(self._keys.get(node, ()) for node in nodes))

    def _is_lost(self, seat: Seat) -> bool:
        wanted = ids(seat.allocation)
        return seat.node in self._gone or any(wanted & pod.devices for pod in self._holders.at(seat.node))


def _held(pod: PodFacts | None) -> frozenset[str]:
    return pod.devices if pod else frozenset()
