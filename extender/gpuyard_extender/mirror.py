"""The newest state of the objects of one resource, whatever comes twice or late.

Stands for client-go's thread-safe store. Laws: an older version never replaces a newer one; a UID that was deleted
never comes back; two objects never have one name (the newer one stays).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from gpuyard.writes import JSON

T = TypeVar("T")

REMEMBERED_DELETIONS = 10_000
"""Late news about a deleted object comes soon after its deletion, if at all."""


@dataclass(frozen=True, slots=True)
class Change(Generic[T]):
    """What one object was and is now; None: not there, or not usable."""

    uid: str
    before: T | None
    after: T | None


@dataclass(frozen=True, slots=True)
class _Seen(Generic[T]):
    uid: str
    key: str
    version: int
    value: T | None


class Store(Generic[T]):
    """Objects by UID and by `namespace/name` (`/name` without a namespace), as the values that `read` makes."""

    def __init__(self, read: Callable[[JSON], T | None]) -> None:
        self._read = read
        self._seen: dict[str, _Seen[T]] = {}
        self._uids: dict[str, str] = {}
        self._deleted: dict[str, None] = {}

    def get(self, uid: str) -> T | None:
        found = self._seen.get(uid)
        return found.value if found else None

    def named(self, namespace: str, name: str) -> T | None:
        return self.get(self._uids.get(f"{namespace}/{name}", ""))

    def all(self) -> Iterator[T]:
        """The objects that could be read."""
        return (seen.value for seen in self._seen.values() if seen.value is not None)

    def deleted(self, uid: str) -> bool:
        """Whether the object with this UID was there once and is gone for ever."""
        return uid in self._deleted

    def replace(self, objects: Iterable[JSON]) -> list[Change[T]]:
        """All objects as of now; those that are not among them are gone."""
        listed = [found for found in map(self._identify, objects) if found is not None]
        gone = self._seen.keys() - {seen.uid for seen in listed}
        changes = [self._remove(uid) for uid in sorted(gone)]
        return changes + [change for seen in listed for change in self._put(seen)]

    def observe(self, event: str, obj: JSON) -> list[Change[T]]:
        """One event of a watch: ADDED, MODIFIED or DELETED."""
        seen = self._identify(obj)
        if seen is None:
            return []
        return [self._remove(seen.uid)] if event == "DELETED" else list(self._put(seen))

    def _identify(self, obj: JSON) -> _Seen[T] | None:
        metadata = obj.get("metadata")
        if not isinstance(metadata, dict) or not metadata.get("name"):
            return None
        key = f"{metadata.get('namespace') or ''}/{metadata['name']}"
        version = str(metadata.get("resourceVersion", ""))
        uid = str(metadata.get("uid") or key)
        return _Seen(uid, key, int(version) if version.isdecimal() else 0, self._read(obj))

    def _put(self, seen: _Seen[T]) -> Iterator[Change[T]]:
        known = self._seen.get(seen.uid)
        if seen.uid in self._deleted or (known is not None and seen.version < known.version):
            return
        namesake = self._seen.get(self._uids.get(seen.key, seen.uid))
        if namesake is not None and namesake.uid != seen.uid:
            if seen.version < namesake.version:
                return
            yield self._remove(namesake.uid)
        self._seen[seen.uid] = seen
        self._uids[seen.key] = seen.uid
        yield Change(seen.uid, known.value if known else None, seen.value)

    def _remove(self, uid: str) -> Change[T]:
        self._deleted[uid] = None
        while len(self._deleted) > REMEMBERED_DELETIONS:
            del self._deleted[next(iter(self._deleted))]
        known = self._seen.pop(uid, None)
        if known is None:
            return Change(uid, None, None)
        if self._uids.get(known.key) == uid:
            del self._uids[known.key]
        return Change(uid, known.value, None)
