"""Placements that the API does not show yet, each counted on for as long as its grade lasts.

Stands for the assumed pods of kube-scheduler's cache, which expire too.
"""

import heapq
from collections.abc import Collection

from gpuyard.placing.cluster import Placement
from gpuyard_extender.ledger.claims import Assumption, Grade


class Assumptions:
    """At most one for each pod, by UID."""

    def __init__(self) -> None:
        self._by_uid: dict[str, Assumption] = {}
        self._expiries: list[tuple[float, str]] = []

    def get(self, uid: str) -> Assumption | None:
        return self._by_uid.get(uid)

    def all(self) -> Collection[Assumption]:
        return self._by_uid.values()

    def put(self, placement: Placement, grade: Grade, now: float) -> None:
        """Count on a placement; it takes the place of an earlier one."""
        found = self._by_uid[placement.uid] = Assumption(placement, grade, now + grade.seconds)
        heapq.heappush(self._expiries, (found.expires, placement.uid))

    def drop(self, uid: str) -> None:
        self._by_uid.pop(uid, None)

    def expire(self, now: float) -> list[str]:
        """Drop what has expired: the UIDs."""
        expired = []
        while self._expiries and self._expiries[0][0] <= now:
            _, uid = heapq.heappop(self._expiries)
            found = self._by_uid.get(uid)
            if found is not None and found.expires <= now:
                del self._by_uid[uid]
                expired.append(uid)
        return expired

    def next_expiry(self) -> float | None:
        return self._expiries[0][0] if self._expiries else None
