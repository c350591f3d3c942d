"""What the controllers know: all objects of some resources, by name and by owner.

Stands for client-go's shared informers and their indexers. Law: the newest version of an object stays, whichever
way it came, so that what a controller has just written is there before the event that tells of it: no controller
waits for its own writes to come back.
"""

from collections.abc import Iterable, Iterator

from gpuyard.writes import JSON


class Objects:
    """By resource (plural) and then by `namespace/name` (`/name` where there are no namespaces)."""

    def __init__(self) -> None:
        self._objects: dict[str, dict[str, JSON]] = {}
        self._owned: dict[str, dict[tuple[str, str], None]] = {}
        self._places: dict[tuple[str, str], dict[str, None]] = {}
        self._gone: set[str] = set()

    def get(self, resource: str, key: str) -> JSON | None:
        """The object; None when there is none."""
        return self._objects.get(resource, {}).get(key)

    def all(self, resource: str, namespace: str | None = None) -> Iterator[JSON]:
        """The objects of a resource, or those of one namespace."""
        found = self._objects.get(resource, {})
        if namespace is None:
            return iter(list(found.values()))
        return iter([found[key] for key in self._places.get((resource, namespace), ())])

    def owned(self, uid: str, resource: str) -> list[JSON]:
        """The objects that name `uid` as their controller."""
        return [self._objects[kind][key] for kind, key in self._owned.get(uid, ()) if kind == resource]

    def put(self, resource: str, obj: JSON) -> None:
        """Take a version of an object, unless a newer one is known or the object is known to be gone."""
        key, known = key_of(obj), self.get(resource, key_of(obj))
        if obj["metadata"]["uid"] in self._gone or (known is not None and _is_newer(known, obj)):
            return
        self._drop(resource, key)
        self._objects.setdefault(resource, {})[key] = obj
        self._places.setdefault((resource, obj["metadata"].get("namespace", "")), {})[key] = None
        if owner := controller_uid(obj):
            self._owned.setdefault(owner, {})[resource, key] = None

    def deleted(self, resource: str, obj: JSON) -> None:
        """The event that an object is gone."""
        uid, known = obj["metadata"]["uid"], self.get(resource, key_of(obj))
        self._gone.discard(uid)
        if known is not None and known["metadata"]["uid"] == uid:
            self._drop(resource, key_of(obj))

    def removed(self, resource: str, obj: JSON) -> None:
        """We removed an object: what is still on its way about it is old."""
        self._gone.add(obj["metadata"]["uid"])
        self._drop(resource, key_of(obj))

    def replace(self, resource: str, objects: Iterable[JSON]) -> None:
        """All objects of a resource as of now."""
        for key in list(self._objects.get(resource, ())):
            self._drop(resource, key)
        for obj in objects:
            self.put(resource, obj)

    def _drop(self, resource: str, key: str) -> None:
        old = self._objects.get(resource, {}).pop(key, None)
        if old is None:
            return
        self._places[resource, old["metadata"].get("namespace", "")].pop(key, None)
        if owner := controller_uid(old):
            owned = self._owned[owner]
            owned.pop((resource, key), None)
            if not owned:
                del self._owned[owner]


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


def _is_newer(one: JSON, other: JSON) -> bool:
    """Versions count all writes of a server, so they tell also which of two objects of one name is the later."""
    return int(one["metadata"]["resourceVersion"]) > int(other["metadata"]["resourceVersion"])
