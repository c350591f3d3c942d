"""The places that gangs hold: recorded as Reservation objects, or promised a moment ago in the answer to a plan.

Laws: a pod sits where the reservation that lives longest puts it; a promise ends when its record is seen, and
everything ends at its expiry, so that neither a dead operator nor a lost answer holds devices for ever.
"""

import heapq
import itertools

from gpuyard.groups.reservations import Reservation, Seat

Touched = set[str]
"""UIDs of the pods whose seat may have changed."""


class Seats:
    """Seats by pod UID."""

    def __init__(self) -> None:
        self._by_uid: dict[str, list[tuple[Reservation, Seat]]] = {}
        self._promised: dict[tuple[str, str], Reservation] = {}
        self._expiries: list[tuple[float, int, Reservation]] = []
        self._numbers = itertools.count()

    def find(self, uid: str) -> tuple[Reservation, Seat] | None:
        """The seat of a pod and the reservation that it belongs to."""
        return max(self._by_uid.get(uid, ()), key=lambda found: found[0].expires, default=None)

    def promised(self, namespace: str, group: str) -> Reservation | None:
        """The plan of a group that has been answered and not been recorded yet."""
        return self._promised.get((namespace, group))

    def promise(self, reservation: Reservation) -> Touched:
        """Keep the places of a plan until it is recorded or expires."""
        key = (reservation.namespace, reservation.group)
        touched = self._remove(self._promised.pop(key, None))
        self._promised[key] = reservation
        return touched | self._add(reservation)

    def record(self, before: Reservation | None, after: Reservation | None) -> Touched:
        """A Reservation object was seen to change."""
        touched = self._remove(before)
        if after is None:
            return touched
        promised = self.promised(after.namespace, after.group)
        if promised is not None and promised.expires <= after.expires:
            touched |= self._end(promised)
        return touched | self._add(after)

    def expire(self, now: float) -> Touched:
        """Drop what has expired."""
        touched: Touched = set()
        while self._expiries and self._expiries[0][0] <= now:
            touched |= self._end(heapq.heappop(self._expiries)[2])
        return touched

    def next_expiry(self) -> float | None:
        return self._expiries[0][0] if self._expiries else None

    def _add(self, reservation: Reservation) -> Touched:
        heapq.heappush(self._expiries, (reservation.expires, next(self._numbers), reservation))
        for seat in reservation.seats:
            self._by_uid.setdefault(seat.uid, []).append((reservation, seat))
        return {seat.uid for seat in reservation.seats}

    def _end(self, reservation: Reservation) -> Touched:
        key = (reservation.namespace, reservation.group)
        if self._promised.get(key) is reservation:
            del self._promised[key]
        return self._remove(reservation)

    def _remove(self, reservation: Reservation | None) -> Touched:
        seats = reservation.seats if reservation else ()
        for seat in seats:
            left = [found for found in self._by_uid.get(seat.uid, ()) if found[0] is not reservation]
            if left:
                self._by_uid[seat.uid] = left
            else:
                self._by_uid.pop(seat.uid, None)
        return {seat.uid for seat in seats}
