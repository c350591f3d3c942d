"""The objects of one resource as last seen.

Stands for client-go's indexer. Several sources feed it in no fixed order: watch events, lists, the answers to our own
writes. So an object never becomes older, and what was deleted never comes back.
"""

from collections.abc import Callable, Iterable

from gpuyard.pods import memberships
from gpuyard.writes import JSON
from gpuyard_operator.members import is_stuck

Key = tuple[str, str]
"""Namespace and name of a PodGroup."""

TOMBS = 10_000
"""So many deletions are remembered; late news of a deleted object arrive within seconds."""


class Shelf:
    """The objects of one resource by UID, found by the key of their group. `key_of` gives None for foreign ones.

    Every change returns the keys that it touched: none when it brought nothing new.
    """

    def __init__(self, key_of: Callable[[JSON], Key | None]) -> None:
        self._key_of = key_of
        self._objects: dict[str, JSON] = {}
        self._at: dict[Key, dict[str, JSON]] = {}
        self._gone: dict[str, None] = {}

    def at(self, key: Key) -> tuple[JSON, ...]:
        """The objects of a group."""
        return tuple(self._at.get(key, {}).values())

    def newest(self, key: Key) -> JSON | None:
        """The newest object of a key under which there should be one: a name may have been used again."""
        return max(self.at(key), key=version, default=None)

    def keys(self) -> set[Key]:
        return set(self._at)

    def put(self, obj: JSON) -> set[Key]:
        """Learn the state of an object."""
        uid = uid_of(obj)
        old = self._objects.get(uid)
        if uid in self._gone or (old is not None and version(old) >= version(obj)):
            return set()
        touched = self._remove(uid)
        key = self._key_of(obj)
        if key is not None:
            self._objects[uid] = obj
            self._at.setdefault(key, {})[uid] = obj
            touched.add(key)
        return touched

    def drop(self, obj: JSON) -> set[Key]:
        """Learn that an object is deleted."""
        uid = uid_of(obj)
        self._gone[uid] = None
        if len(self._gone) > TOMBS:
            del self._gone[next(iter(self._gone))]
        return self._remove(uid)

    def replace(
        self, objects: Iterable[JSON], among: Key | None = None, as_of: int | None = None
    ) -> set[Key]:
        """Learn all objects that there are; with `among`, all of that group.

        A list that was read beside a running watch says its version, `as_of`: newer objects are not judged by it.
        """
        listed = {uid_of(obj): obj for obj in objects}
        known = self._objects if among is None else self._at.get(among, {})
        missing = [uid for uid in known if uid not in listed]
        gone = [uid for uid in missing if as_of is None or version(known[uid]) <= as_of]
        touched = [self._remove(uid) for uid in gone] + [self.put(obj) for obj in listed.values()]
        return set().union(*touched)

    def _remove(self, uid: str) -> set[Key]:
        old = self._objects.pop(uid, None)
        key = None if old is None else self._key_of(old)
        if key is None:
            return set()
        del self._at[key][uid]
        if not self._at[key]:
            del self._at[key]
        return {key}


def by_claim(pod: JSON) -> Key | None:
    """The group that a pod claims, in its own namespace; one that is stuck alone is a group of its own."""
    group = memberships.claimed(pod) or (memberships.alone(uid_of(pod)) if is_stuck(pod) else None)
    return (str((pod.get("metadata") or {}).get("namespace", "")), group) if group else None


def by_name(obj: JSON) -> Key:
    """The group of a PodGroup or Reservation: both have its name."""
    metadata = obj.get("metadata") or {}
    return str(metadata.get("namespace", "")), str(metadata.get("name", ""))


def uid_of(obj: JSON) -> str:
    metadata = obj.get("metadata") or {}
    return str(metadata.get("uid") or f"{metadata.get('namespace', '')}/{metadata.get('name', '')}")


def version(obj: JSON) -> int:
    """resourceVersion as a number, as Kubernetes lets clients compare it since 1.35; -1 without one."""
    text = str((obj.get("metadata") or {}).get("resourceVersion", ""))
    return int(text) if text.isdecimal() else -1
