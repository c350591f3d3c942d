"""Room that others have to leave before a pod can have it: less sure than an assumption, which may come and go.

Stands for the nominated pods of kube-scheduler's queue.
"""

from collections.abc import Collection
from dataclasses import dataclass

from gpuyard.placing.cluster import Placement


@dataclass(frozen=True, slots=True)
class Expectation:
    """Pods of more than this `priority` need not heed it; it ends at `expires`, by `Runtime.steady`."""

    placement: Placement
    priority: int
    expires: float
    victims: frozenset[str] = frozenset()
    """UIDs of those that leave it the room."""
    chosen: bool = False
    """Whether it is known that kube-scheduler has begun to make the room."""


class Expectations:
    """At most one for each pod, by UID; there are few."""

    def __init__(self) -> None:
        self._by_uid: dict[str, Expectation] = {}

    def __len__(self) -> int:
        return len(self._by_uid)

    def get(self, uid: str) -> Expectation | None:
        return self._by_uid.get(uid)

    def items(self) -> Collection[tuple[str, Expectation]]:
        return self._by_uid.items()

    def put(self, found: Expectation) -> None:
        """It takes the place of an earlier one."""
        self._by_uid[found.placement.uid] = found

    def drop(self, uid: str) -> None:
        self._by_uid.pop(uid, None)

    def expire(self, now: float) -> list[str]:
        """Drop what has expired: the UIDs."""
        expired = [uid for uid, found in self._by_uid.items() if found.expires <= now]
        for uid in expired:
            del self._by_uid[uid]
        return expired

    def next_expiry(self) -> float | None:
        return min((found.expires for found in self._by_uid.values()), default=None)
