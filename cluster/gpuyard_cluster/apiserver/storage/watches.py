"""Watches: the changes of a collection as one reader wants to see them.

Stands for the cacher's watchers in kube-apiserver. Laws:
- A reader sees each change once, in the order of revisions.
- An object that starts or stops matching the selection is ADDED or DELETED for this reader, whatever happened to it.
- A reader who falls too far behind is ended, and starts again from the last revision that it saw.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.storage.storage import Change, Stored, restamped

BUFFER = 10_000
"""How many changes wait for a reader before it is ended."""
BUFFER_BYTES = 32 * 1024 * 1024
"""How much JSON these may be in all. What was there already when the watch was opened is not counted."""


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One event. `type` is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR; `encoded` is the object in JSON."""

    type: str
    encoded: bytes
    stored: Stored | None = None
    """What was encoded, where that is an object as it is stored."""

    @property
    def object(self) -> JSON:
        """The object, for a caller who does not change it: all readers in this process share one."""
        decoded: JSON = orjson.loads(self.encoded) if self.stored is None else self.stored.obj
        return decoded

    @property
    def line(self) -> bytes:
        """The event as one line of an HTTP watch stream."""
        return b'{"type":"%b","object":%b}\n' % (self.type.encode(), self.encoded)


@dataclass(frozen=True, slots=True)
class Selection:
    """What a reader wants to see, and the encoded form in which it does."""

    matches: Callable[[Stored], bool]
    render: Callable[[Stored], bytes]


def select(change: Change, matches: Callable[[Stored], bool]) -> tuple[str, Stored] | None:
    """The event that `change` is for a reader with this selection; None when it is none."""
    before = change.old is not None and matches(change.old)
    after = change.kind != "DELETED" and matches(change.new)
    if after:
        return ("MODIFIED" if before else "ADDED"), change.new
    if not before or change.old is None:
        return None
    if change.kind == "DELETED":
        return "DELETED", change.new
    # The last state that matched, but with the revision at which it left (cacher.go, updateResourceVersion).
    return "DELETED", restamped(change.old.key, change.old.obj, change.new.revision)


class Watch:
    """An open watch. Read it with `take`; `on_event` is called when there is something to take, or it ended."""

    def __init__(
        self, selection: Selection, seconds: float, bookmarks: Callable[[JSON], bytes] | None
    ) -> None:
        self.seconds = seconds
        """How long the reader may stay, from now."""
        self.closed = False
        self.on_event: Callable[[], Any] = _nothing
        self.unsubscribe: Callable[[], None] = _nothing
        self._selection = selection
        self._bookmark = bookmarks
        self._events: deque[WatchEvent] = deque()
        self._waiting = 0
        self._bytes = 0

    def take(self) -> list[WatchEvent]:
        """The events since the last call, oldest first."""
        events = list(self._events)
        self._events.clear()
        self._waiting = self._bytes = 0
        return events

    def see(self, change: Change) -> None:
        """Subscriber of the store: queue what this change is for the reader."""
        selected = select(change, self._selection.matches)
        if selected is None:
            return
        if self._waiting >= BUFFER or self._bytes >= BUFFER_BYTES:
            self._events.clear()
            self.close()
            return
        event = self._event(*selected)
        self._waiting, self._bytes = self._waiting + 1, self._bytes + len(event.encoded)
        self.push(event)

    def show(self, stored: Stored) -> None:
        """Queue an object that exists already as ADDED, if it matches."""
        if self._selection.matches(stored):
            self.push(self._event("ADDED", stored))

    def _event(self, kind: str, stored: Stored) -> WatchEvent:
        encoded = self._selection.render(stored)
        return WatchEvent(kind, encoded, stored if encoded is stored.encoded else None)

    def mark(self, revision: int, *, initial_end: bool = False) -> None:
        """Queue a bookmark: the reader has now seen everything up to `revision`."""
        if self._bookmark is None:
            return
        metadata: JSON = {"resourceVersion": str(revision)}
        if initial_end:
            metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
        self.push(WatchEvent("BOOKMARK", self._bookmark(metadata)))

    def push(self, event: WatchEvent) -> None:
        """Queue an event."""
        if not self.closed:
            self._events.append(event)
            self.on_event()

    def fail(self, error: ApiError) -> None:
        """Queue an error as the last event, and end."""
        self.push(WatchEvent("ERROR", orjson.dumps(error.status())))
        self.close()

    def close(self) -> None:
        """End the watch; what is queued can still be taken."""
        if not self.closed:
            self.closed = True
            self.unsubscribe()
            self.on_event()


class OpenWatches:
    """The watches of all collections, to end them when a collection or the server goes."""

    def __init__(self) -> None:
        self._open: dict[str, list[Watch]] = {}

    def add(self, collection: str, watch: Watch) -> None:
        """Remember a watch until it ends."""
        found = self._open.setdefault(collection, [])
        found[:] = [*(other for other in found if not other.closed), watch]

    def close(self, collection: str) -> None:
        """End all watches of a collection."""
        for watch in self._open.pop(collection, []):
            watch.close()

    def close_all(self) -> None:
        """End every watch."""
        for collection in list(self._open):
            self.close(collection)


def _nothing() -> None:
    pass
