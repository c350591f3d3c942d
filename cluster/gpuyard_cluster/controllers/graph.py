"""Who owns whom.

Stands for the garbage collector's GraphBuilder. A value per object and an index by owner; nothing here decides.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from gpuyard.writes import JSON

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"
"""The finalizers by which the API server hands a deletion over to the garbage collector."""


@dataclass(frozen=True, slots=True)
class Owner:
    """An owner reference. `blocking`: a foreground deletion of the owner waits for the dependent."""

    uid: str
    api_version: str
    kind: str
    name: str
    blocking: bool


@dataclass(frozen=True, slots=True)
class Item:
    """What the garbage collector knows of an object; `resource` is its plural, `references` are as stored."""

    uid: str
    resource: str
    namespace: str
    name: str
    version: str
    owners: tuple[Owner, ...]
    references: tuple[JSON, ...]
    finalizers: tuple[str, ...]
    deleting: bool

    @staticmethod
    def of(resource: str, obj: JSON) -> "Item":
        """The item of an object."""
        metadata = obj["metadata"]
        references = tuple(metadata.get("ownerReferences") or ())
        return Item(
            uid=metadata["uid"],
            resource=resource,
            namespace=metadata.get("namespace", ""),
            name=metadata["name"],
            version=metadata.get("resourceVersion", ""),
            owners=tuple(_owner(reference) for reference in references),
            references=references,
            finalizers=tuple(metadata.get("finalizers") or ()),
            deleting=bool(metadata.get("deletionTimestamp")),
        )

    def holds(self, finalizer: str) -> bool:
        """Whether the object is being deleted and this finalizer is to be worked off."""
        return self.deleting and finalizer in self.finalizers


def _owner(reference: JSON) -> Owner:
    blocking = bool(reference.get("blockOwnerDeletion"))
    return Owner(reference["uid"], reference["apiVersion"], reference["kind"], reference["name"], blocking)


class Graph:
    """All objects that are watched, by uid, and their dependents."""

    def __init__(self) -> None:
        self._items: dict[str, Item] = {}
        self._dependents: dict[str, dict[str, None]] = {}

    def get(self, uid: str) -> Item | None:
        """The object of that uid; None when it was never seen, or is gone."""
        return self._items.get(uid)

    def dependents(self, uid: str) -> Iterator[Item]:
        """The objects that name `uid` as an owner, in the order in which they came."""
        return (self._items[dependent] for dependent in self._dependents.get(uid, ()))

    def uids(self, resource: str) -> set[str]:
        """The uids of all objects of a resource."""
        return {uid for uid, item in self._items.items() if item.resource == resource}

    def put(self, item: Item) -> list[str]:
        """Take the newest state of an object; the uids of whom that concerns, empty when nothing matters."""
        old = self._items.get(item.uid)
        self._unlink(item.uid)
        self._items[item.uid] = item
        for owner in item.owners:
            self._dependents.setdefault(owner.uid, {})[item.uid] = None
        if old is not None and replace(old, version=item.version) == item:
            return []
        return [
            item.uid,
            *_owner_uids(old, item),
            *(self._dependents.get(item.uid, ()) if item.deleting else ()),
        ]

    def drop(self, uid: str) -> list[str]:
        """An object is gone; the uids of whom that concerns."""
        old = self._items.get(uid)
        self._unlink(uid)
        self._items.pop(uid, None)
        return [*_owner_uids(old), *self._dependents.get(uid, ())]

    def _unlink(self, uid: str) -> None:
        for owner in _owner_uids(self._items.get(uid)):
            dependents = self._dependents.get(owner, {})
            dependents.pop(uid, None)
            if not dependents:
                self._dependents.pop(owner, None)


def _owner_uids(*items: Item | None) -> Iterable[str]:
    return (owner.uid for item in items if item is not None for owner in item.owners)
