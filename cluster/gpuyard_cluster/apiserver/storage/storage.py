"""All objects, in one order of changes.

Stands for etcd and the watch cache. Laws:
- One counter, the revision, numbers every change of any object; an object's resourceVersion is the revision of its
  last change.
- A stored object is never mutated, neither here nor by whoever is shown it. It keeps its encoded bytes, so that it is
  encoded once however often it is read.
- Each collection remembers its latest changes. Reading or watching from before them is refused as expired.
"""

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import orjson

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.storage.subscribers import Interest, Subscriber, Subscribers

FIRST_REVISION = 2
"""What a fresh server holds: revision 1 is in the past, as it is on any cluster that clients meet."""
HISTORY = 4096
"""How many changes a collection remembers."""
HISTORY_BYTES = 64 * 1024 * 1024
"""How much JSON these may hold in all: large objects that change often are remembered for fewer changes."""


@dataclass(slots=True, eq=False)
class Stored:
    """One object at one revision. `encoded` starts with its kind and apiVersion."""

    key: str
    revision: int
    _obj: JSON | None
    encoded: bytes

    @property
    def obj(self) -> JSON:
        """The object, for a caller who does not change it."""
        return self._obj if self._obj is not None else self.copy()

    def copy(self) -> JSON:
        """The object, for a caller who changes it."""
        copied: JSON = orjson.loads(self.encoded)
        return copied

    def pack(self) -> None:
        """Keep only the bytes, a third of all: this is past, and few will ask for it."""
        self._obj = None


@dataclass(frozen=True, slots=True)
class Change:
    """`kind` is ADDED, MODIFIED or DELETED; for DELETED `new` is the last state with the deletion's revision."""

    kind: str
    old: Stored | None
    new: Stored


@dataclass(slots=True)
class _Collection:
    objects: dict[str, Stored] = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)
    changes: deque[Change] = field(default_factory=deque)
    held: int = 0
    """Bytes of JSON in `changes`."""
    floor: int = FIRST_REVISION
    subscribers: Subscribers = field(default_factory=Subscribers)


def object_key(namespace: str, name: str) -> str:
    """Where an object is kept in its collection; the order of keys is the order of lists."""
    return f"{namespace}/{name}" if namespace else name


class Store:
    """Collections of objects by name, such as `pods` or `leases.coordination.k8s.io`."""

    def __init__(self, history: int = HISTORY) -> None:
        self.revision = FIRST_REVISION
        self._history = history
        self._collections: dict[str, _Collection] = {}

    def get(self, collection: str, key: str) -> Stored | None:
        """The object of that key as it is now."""
        return self._collection(collection).objects.get(key)

    def count(self, collection: str) -> int:
        """How many objects there are now."""
        return len(self._collection(collection).objects)

    def scan(self, collection: str, prefix: str = "", after: str = "") -> Iterator[Stored]:
        """The objects whose keys start with `prefix` and are greater than `after`, in the order of keys."""
        found = self._collection(collection)
        for index in range(bisect_left(found.keys, max(prefix, after)), len(found.keys)):
            key = found.keys[index]
            if not key.startswith(prefix):
                return
            if key != after:
                yield found.objects[key]

    def snapshot(self, collection: str, revision: int) -> list[Stored]:
        """All objects as they were at `revision`; 410 when that is too long ago."""
        objects = dict(self._collection(collection).objects)
        for change in reversed(self.since(collection, revision)):
            if change.old is None:
                del objects[change.new.key]
            else:
                objects[change.old.key] = change.old
        return [objects[key] for key in sorted(objects)]

    def since(self, collection: str, revision: int) -> list[Change]:
        """The changes after `revision`, oldest first; 410 when some are forgotten."""
        found = self._collection(collection)
        if revision < found.floor:
            raise expired(f"too old resource version: {revision} ({found.floor})")
        return [change for change in found.changes if change.new.revision > revision]

    def put(self, collection: str, key: str, obj: JSON) -> Stored:
        """Store `obj` under the next revision, and tell the subscribers."""
        old = self._collection(collection).objects.get(key)
        new = self._stamped(key, obj)
        self._record(collection, Change("ADDED" if old is None else "MODIFIED", old, new))
        return new

    def delete(self, collection: str, key: str) -> Stored:
        """Remove the object of that key; its last state, with the revision of its end."""
        old = self._collection(collection).objects[key]
        last = self._stamped(key, old.obj)
        self._record(collection, Change("DELETED", old, last))
        return last

    def subscribe(
        self, collection: str, subscriber: Subscriber, interest: Interest | None = None
    ) -> Callable[[], None]:
        """Call `subscriber` after each change that it is interested in, within the change; the result ends that.

        It must not write.
        """
        return self._collection(collection).subscribers.add(subscriber, interest)

    def _collection(self, name: str) -> _Collection:
        found = self._collections.get(name)
        if found is None:
            found = self._collections[name] = _Collection()
        return found

    def _stamped(self, key: str, obj: JSON) -> Stored:
        self.revision += 1
        return restamped(key, obj, self.revision)

    def _record(self, collection: str, change: Change) -> None:
        found, key = self._collection(collection), change.new.key
        if change.kind == "DELETED":
            del found.objects[key]
            del found.keys[bisect_left(found.keys, key)]
        else:
            found.objects[key] = change.new
            if change.kind == "ADDED":
                insort(found.keys, key)
        found.changes.append(change)
        found.held += len(change.new.encoded)
        while len(found.changes) > self._history or found.held > HISTORY_BYTES:
            oldest = found.changes.popleft().new
            found.floor, found.held = oldest.revision, found.held - len(oldest.encoded)
        for subscriber in found.subscribers.concerned(change):
            subscriber(change)
        if change.old is not None:
            change.old.pack()


def restamped(key: str, obj: JSON, revision: int) -> Stored:
    """`obj` with another resourceVersion; the given object is left as it is."""
    metadata = {**obj["metadata"], "resourceVersion": str(revision)}
    stamped = {"kind": obj["kind"], "apiVersion": obj["apiVersion"], **obj, "metadata": metadata}
    # Copied: orjson leaves up to as much again behind the bytes as they take.
    return Stored(key, revision, stamped, bytes(memoryview(orjson.dumps(stamped))))


def expired(message: str, metadata: JSON | None = None) -> ApiError:
    """410: the revision that was asked for is no longer remembered."""
    return ApiError(410, "Expired", message, metadata=metadata)
