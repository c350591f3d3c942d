"""What the controllers know: all objects of some resources, by name and by owner.

Stands for client-go's shared informers and their indexers. Law: the newest version of an object stays, whichever
way it came (`Store`), so that what a controller has just written is there before the event that tells of it: no
controller waits for its own writes to come back.
"""

from collections.abc import Iterable, Iterator
from itertools import chain

from gpuyard.writes import JSON
from gpuyard_kube.store import Change, Index, Store


class _Kept:
    """The objects of one resource."""

    def __init__(self) -> None:
        self.store = Store[JSON](lambda obj: obj)
        self.spaces = Index[str, JSON](lambda obj: str(obj["metadata"].get("namespace", "")))
        self.owned = Index[str, JSON](lambda obj: controller_uid(obj) or None)
        self.owners = Index[tuple[str, str, str], JSON](_owner)

    def take(self, changes: Iterable[Change[JSON]]) -> None:
        changed = list(changes)
        for index in (self.spaces, self.owned, self.owners):
            index.take(changed)


class Objects:
    """By resource (plural) and then by `namespace/name` (`/name` where there are no namespaces)."""

    def __init__(self) -> None:
        self._kept: dict[str, _Kept] = {}

    def get(self, resource: str, key: str) -> JSON | None:
        """The object; None when there is none."""
        return self._of(resource).store.named(*key.split("/", 1))

    def all(self, resource: str, namespace: str | None = None) -> Iterator[JSON]:
        """The objects of a resource, or those of one namespace."""
        kept = self._of(resource)
        return iter(list(kept.store.all()) if namespace is None else kept.spaces.at(namespace))

    def owned(self, uid: str, resource: str) -> tuple[JSON, ...]:
        """The objects that name `uid` as their controller."""
        return self._of(resource).owned.at(uid)

    def orphans(self, resource: str, namespace: str) -> tuple[JSON, ...]:
        """The objects of a namespace that have no controller."""
        return self._of(resource).owners.at((namespace, "", ""))

    def claimable(self, resource: str, namespace: str, kind: str, name: str) -> Iterator[JSON]:
        """Those, and the objects whose controller was or is of that kind and name."""
        named = self._of(resource).owners.at((namespace, kind, name))
        return chain(named, self.orphans(resource, namespace))

    def put(self, resource: str, obj: JSON) -> None:
        """Take a version of an object, unless a newer one is known or the object is known to be gone."""
        kept = self._of(resource)
        kept.take(kept.store.observe("MODIFIED", obj))

    def deleted(self, resource: str, obj: JSON) -> None:
        """An object is gone: what is still on its way about it is old."""
        kept = self._of(resource)
        kept.take(kept.store.observe("DELETED", obj))

    def replace(self, resource: str, objects: Iterable[JSON]) -> None:
        """All objects of a resource as of now."""
        kept = self._of(resource)
        kept.take(kept.store.replace(objects))

    def _of(self, resource: str) -> _Kept:
        if resource not in self._kept:
            self._kept[resource] = _Kept()
        return self._kept[resource]


def key_of(obj: JSON) -> str:
    """`namespace/name`."""
    return f"{obj['metadata'].get('namespace', '')}/{obj['metadata']['name']}"


def controller_of(obj: JSON) -> JSON | None:
    """The owner reference of the object's controller; None when it has none."""
    owners = obj["metadata"].get("ownerReferences") or ()
    return next((owner for owner in owners if owner.get("controller")), None)


def controller_uid(obj: JSON) -> str:
    """The uid of the object's controller; empty when it has none."""
    owner = controller_of(obj)
    return str(owner["uid"]) if owner else ""


def _owner(obj: JSON) -> tuple[str, str, str]:
    owner = controller_of(obj) or {}
    return obj["metadata"].get("namespace", ""), owner.get("kind", ""), owner.get("name", "")
