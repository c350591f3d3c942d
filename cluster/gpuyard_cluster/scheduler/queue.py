"""Which pod is tried next, and when one that failed is tried again.

Stands for kube-scheduler's SchedulingQueue, by what 1.36.3 was seen to do:

    gated          until the last scheduling gate is gone
    active         by priority, highest first, then by creation
    in flight      being tried or bound; what happens meanwhile counts when the attempt ends
    unschedulable  rejected: active again, without back-off, at any change of a node, of an assigned pod or of the
                   pod itself; else after 5 minutes
    backoff        failed with an error: active again after 1, 2, 4, 8, then 10 seconds, which no event shortens

kube-scheduler looks for ends of back-off once a second and for the 5 minutes once in 30 seconds; here both are exact.
"""

import enum
import heapq
from dataclasses import dataclass

from gpuyard_cluster.scheduler.pods import PodInfo

FIRST_BACKOFF, LONGEST_BACKOFF = 1.0, 10.0
LONGEST_UNSCHEDULABLE = 300.0


class Place(enum.Enum):
    """Where in the queue a pod is."""

    GATED = enum.auto()
    ACTIVE = enum.auto()
    IN_FLIGHT = enum.auto()
    UNSCHEDULABLE = enum.auto()
    BACKOFF = enum.auto()


@dataclass(slots=True)
class _Entry:
    pod: PodInfo
    number: int
    """In the order of arrival: tells pods apart that were created in one second."""
    place: Place = Place.GATED
    moves: int = 0
    """How often it changed its place: an item of a heap with an older number is void."""
    errors: int = 0
    """In a row."""
    woken: bool = False
    """While in flight: something happened that makes a rejection stale."""


class SchedulingQueue:
    """All pods that wait to be bound. Times are seconds since the epoch."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._concerned: dict[str, _Entry] = {}
        """Those to which it matters that something changed: not the many that wait for their first turn."""
        self._numbers = 0
        self._active: list[tuple[int, str, int, int, str]] = []
        self._timed: list[tuple[float, int, int, str]] = []

    def __contains__(self, uid: str) -> bool:
        return uid in self._entries

    def get(self, uid: str) -> PodInfo | None:
        """The newest version of a waiting pod."""
        entry = self._entries.get(uid)
        return entry.pod if entry else None

    def uids(self) -> list[str]:
        return list(self._entries)

    def place(self, uid: str) -> Place | None:
        """Where the pod is; None when it does not wait here."""
        entry = self._entries.get(uid)
        return entry.place if entry else None

    def update(self, pod: PodInfo) -> None:
        """A pod is new, or changed."""
        entry = self._entries.get(pod.uid)
        if entry is None:
            self._numbers += 1
            entry = self._entries[pod.uid] = _Entry(pod, self._numbers)
            self._move(entry, Place.GATED if pod.gated else Place.ACTIVE)
            return
        changed, entry.pod = entry.pod.version != pod.version, pod
        if changed:
            self._changed(entry)

    def remove(self, uid: str) -> None:
        """A pod is bound or gone."""
        self._entries.pop(uid, None)
        self._concerned.pop(uid, None)

    def pop(self, now: float) -> PodInfo | None:
        """Take the first active pod into flight; None when there is none."""
        self._release_due(now)
        while self._active:
            *_, moves, uid = heapq.heappop(self._active)
            entry = self._entries.get(uid)
            if entry is not None and entry.moves == moves:
                self._move(entry, Place.IN_FLIGHT)
                return entry.pod
        return None

    def reject(self, uid: str, now: float) -> None:
        """No node does for the pod in flight."""
        entry = self._entries.get(uid)
        if entry is None:
            return
        entry.errors = 0
        if entry.woken:
            self._move(entry, Place.ACTIVE)
        else:
            self._move(entry, Place.UNSCHEDULABLE, now + LONGEST_UNSCHEDULABLE)

    def fail(self, uid: str, now: float) -> None:
        """The attempt for the pod in flight ended with an error."""
        entry = self._entries.get(uid)
        if entry is None:
            return
        entry.errors += 1
        # Bounded before the power is taken: errors may go on for days.
        pause = FIRST_BACKOFF * 2 ** min(entry.errors - 1, 10)
        self._move(entry, Place.BACKOFF, now + min(pause, LONGEST_BACKOFF))

    def wake(self) -> None:
        """A node or an assigned pod changed: every rejection is stale."""
        for entry in list(self._concerned.values()):
            if entry.place is Place.UNSCHEDULABLE:
                self._move(entry, Place.ACTIVE)
            else:
                entry.woken = True

    def next_at(self) -> float | None:
        """When a pod becomes active without an event; None when none will."""
        while self._timed and not self._valid(self._timed[0]):
            heapq.heappop(self._timed)
        return self._timed[0][0] if self._timed else None

    def _changed(self, entry: _Entry) -> None:
        if entry.place is Place.GATED and entry.pod.gated:
            return
        if entry.place in (Place.GATED, Place.UNSCHEDULABLE):
            self._move(entry, Place.ACTIVE)
        elif entry.place is Place.IN_FLIGHT:
            entry.woken = True

    def _move(self, entry: _Entry, place: Place, due: float = 0.0) -> None:
        entry.place, entry.woken, entry.moves = place, False, entry.moves + 1
        pod = entry.pod
        if place in (Place.UNSCHEDULABLE, Place.IN_FLIGHT):
            self._concerned[pod.uid] = entry
        else:
            self._concerned.pop(pod.uid, None)
        if place is Place.ACTIVE:
            heapq.heappush(self._active, (-pod.priority, pod.created, entry.number, entry.moves, pod.uid))
        elif place in (Place.UNSCHEDULABLE, Place.BACKOFF):
            heapq.heappush(self._timed, (due, entry.number, entry.moves, pod.uid))

    def _valid(self, item: tuple[float, int, int, str]) -> bool:
        entry = self._entries.get(item[3])
        return entry is not None and entry.moves == item[2]

    def _release_due(self, now: float) -> None:
        while (due := self.next_at()) is not None and due <= now:
            self._move(self._entries[heapq.heappop(self._timed)[3]], Place.ACTIVE)
