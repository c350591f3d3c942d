"""The newest state of the objects of one resource, whatever comes twice, late or from several sources.

Stands for client-go's thread-safe store and its indexers. Watch events, lists and the answers to a component's own
writes arrive in no fixed order. Laws: an older version never replaces a newer one; an object that was deleted never
comes back; what a list lacks is gone, until news of it come that are as new as what was known; two objects never have
one name (the newer one stays).
"""

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from gpuyard.writes import JSON

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

REMEMBERED_DELETIONS = 10_000
"""Late news about a deleted object comes soon after its deletion, if at all."""
MOST_DIGITS = 100
"""Of a version: Kubernetes bounds none, and to read thousands takes long, or is refused by Python."""


@dataclass(frozen=True, slots=True)
class Change(Generic[T]):
    """What one object was and is now; None: not there, or not usable."""

    uid: str
    before: T | None
    after: T | None


@dataclass(frozen=True, slots=True)
class _Seen(Generic[T]):
    key: str
    version: int
    value: T | None


class Store(Generic[T]):
    """Objects by UID and by `namespace/name` (`/name` without a namespace), as the values that `read` makes."""

    def __init__(self, read: Callable[[JSON], T | None]) -> None:
        self._read = read
        self._seen: dict[str, _Seen[T]] = {}
        self._uids: dict[str, str] = {}
        self._gone: dict[str, float] = {}
        """UID -> the version before which nothing of it is of interest any more."""

    def get(self, uid: str) -> T | None:
        found = self._seen.get(uid)
        return found.value if found else None

    def value(self, obj: JSON) -> T | None:
        """What `read` makes of an object; what is here already, where it was made of this very version."""
        known = self._seen.get(uid_of(obj) or "")
        return known.value if known and 0 < version(obj) == known.version else self._read(obj)

    def named(self, namespace: str, name: str) -> T | None:
        return self.get(self._uids.get(f"{namespace}/{name}", ""))

    def all(self) -> Iterator[T]:
        """The objects that could be read."""
        return (seen.value for seen in self._seen.values() if seen.value is not None)

    def deleted(self, uid: str) -> bool:
        """Whether the object with this UID was there once and is gone."""
        return uid in self._gone

    def replace(
        self, objects: Iterable[JSON], as_of: int | None = None, among: Collection[str] | None = None
    ) -> list[Change[T]]:
        """All objects as of now, or of those with a UID `among` these; those that are not listed are gone.

        A list that was read beside a running watch says its version, `as_of`: newer objects are not judged by it.
        """
        listed = {uid: obj for obj in objects if (uid := uid_of(obj)) is not None}
        missing = (self._seen.keys() if among is None else self._seen.keys() & set(among)) - listed.keys()
        known = {uid: self._seen[uid].version for uid in sorted(missing)}
        gone = [self._remove(uid, at) for uid, at in known.items() if as_of is None or at <= as_of]
        return gone + [change for uid, obj in listed.items() for change in self._put(uid, obj)]

    def observe(self, event: str, obj: JSON) -> list[Change[T]]:
        """One event of a watch: ADDED, MODIFIED or DELETED."""
        uid = uid_of(obj)
        if uid is None:
            return []
        return [self._remove(uid, math.inf)] if event == "DELETED" else list(self._put(uid, obj))

    def forget(self, namespace: str, name: str, uid: str | None = None) -> list[Change[T]]:
        """A server has said that there is none of this name, or of this UID where that is known.

        It may have said so before the one that is known now came to be.
        """
        known = self._uids.get(f"{namespace}/{name}")
        if known is None or uid not in (None, known):
            return []
        return [self._remove(known, self._seen[known].version)]

    def _put(self, uid: str, obj: JSON) -> Iterator[Change[T]]:
        at, key, known = version(obj), _key(obj), self._seen.get(uid)
        if at < self._gone.get(uid, 0) or (known is not None and _is_old(at, known.version)):
            return
        namesake = self._uids.get(key, uid)
        if namesake != uid:
            if at < self._seen[namesake].version:
                return
            yield self._remove(namesake, math.inf)
        self._gone.pop(uid, None)
        if known is not None and known.key != key:
            del self._uids[known.key]
        seen = self._seen[uid] = _Seen(key, at, self._read(obj))
        self._uids[key] = uid
        yield Change(uid, known.value if known else None, seen.value)

    def _remove(self, uid: str, at: float) -> Change[T]:
        self._gone[uid] = at
        while len(self._gone) > REMEMBERED_DELETIONS:
            del self._gone[next(iter(self._gone))]
        known = self._seen.pop(uid, None)
        if known is None:
            return Change(uid, None, None)
        del self._uids[known.key]
        return Change(uid, known.value, None)


class Index(Generic[K, T]):
    """The values of a store by a key that `key_of` finds in them; those without one are left out."""

    def __init__(self, key_of: Callable[[T], K | None]) -> None:
        self._key_of = key_of
        self._at: dict[K, dict[str, T]] = {}

    def at(self, key: K) -> tuple[T, ...]:
        return tuple(self._at.get(key, {}).values())

    def keys(self) -> Collection[K]:
        return self._at.keys()

    def take(self, changes: Iterable[Change[T]]) -> set[K]:
        """Learn what has changed: the keys that are concerned."""
        concerned = set[K]()
        for change in changes:
            before, after = (None if it is None else self._key_of(it) for it in (change.before, change.after))
            if before is not None and before != after:
                self._drop(before, change.uid)
            if after is not None and change.after is not None:
                self._at.setdefault(after, {})[change.uid] = change.after
            concerned |= {key for key in (before, after) if key is not None}
        return concerned

    def _drop(self, key: K, uid: str) -> None:
        del self._at[key][uid]
        if not self._at[key]:
            del self._at[key]


def uid_of(obj: JSON) -> str | None:
    """By what an object is known: its UID, or where it says none `namespace/name`; None where it has no name."""
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict) or not metadata.get("name"):
        return None
    return str(metadata.get("uid") or _key(obj))


def version(obj: JSON) -> int:
    """resourceVersion as a number, as Kubernetes lets clients compare it since 1.35; 0 without one of use."""
    text = str((obj.get("metadata") or {}).get("resourceVersion", ""))
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else 0


def _key(obj: JSON) -> str:
    return f"{obj['metadata'].get('namespace') or ''}/{obj['metadata']['name']}"


def _is_old(at: int, known: int) -> bool:
    """Without a version nobody knows: then it is news."""
    return at < known or at == known > 0
