"""What the operator knows of the cluster, rebuilt at any moment from lists alone.

Stands for client-go's shared informers. It learns from watch events, from lists, and from the answers to the
operator's own writes, so that the next decision is not made on what was just changed.
"""

from collections.abc import Iterable

from gpuyard import vocabulary
from gpuyard.groups import queues, reservations
from gpuyard.writes import JSON, Reply, Write
from gpuyard_operator.changes import Changes
from gpuyard_operator.groups import path as groups_path
from gpuyard_operator.holdings import Holdings
from gpuyard_operator.queue_cache import QueueCache
from gpuyard_operator.shelf import Key, Shelf, by_claim, by_name, version
from gpuyard_operator.victims import Victims
from gpuyard_operator.view import View

PATHS = {
    "podgroups": f"/apis/{vocabulary.POD_GROUP_API}/podgroups",
    "reservations": reservations.PATH,
    "queues": queues.PATH,
    "pods": "/api/v1/pods",
    "nodes": "/api/v1/nodes",
}
"""The resources that the operator must know, and where to list them. Pods are all: room appears wherever one ends."""

_KINDS = {"PodGroup": "podgroups", "Reservation": "reservations", "Pod": "pods"}


class Cache:
    """Every method that learns returns the keys of the groups about which there is something new."""

    def __init__(self, *, preempts: bool = True) -> None:
        self.changes, self._holdings, self.queues = Changes(), Holdings(), QueueCache(self.view)
        self._shelves = {"podgroups": Shelf(by_name), "reservations": Shelf(by_name), "pods": Shelf(by_claim)}
        self._listed: set[str] = set()
        self.victims = Victims(preempts=preempts)

    @property
    def synced(self) -> bool:
        """Whether each resource was listed; before, nothing may be concluded from what is missing."""
        return self._listed.issuperset(PATHS)

    def replace(self, resource: str, objects: Iterable[JSON], as_of: int | None = None) -> set[Key]:
        """See `Shelf.replace`."""
        listed = list(objects)
        self.changes.replace(resource, listed)
        shelf = self._shelves.get(resource)
        touched = set() if shelf is None else shelf.replace(listed, as_of=as_of)
        touched |= self._seat(resource, touched)
        if resource == "pods":
            touched |= self.victims.replace(listed, as_of)
        self.queues.touch(touched)
        touched |= self._holdings.replace(resource, listed, as_of) | self.queues.replace(
            resource, listed, as_of
        )
        if resource in self._listed:
            return touched
        self._listed.add(resource)
        return set().union(*(shelf.keys() for shelf in self._shelves.values()))

    def observe(self, resource: str, event: str, obj: JSON) -> set[Key]:
        """See `gpuyard_kube.api.Observer`."""
        self.changes.observe(resource, event, obj)
        touched, shelf = self._holdings.observe(resource, event, obj), self._shelves.get(resource)
        touched |= self.queues.observe(resource, event, obj)
        if resource == "pods":
            touched |= self.victims.observe(event, obj)
        if shelf is not None:
            found = shelf.drop(obj) if event == "DELETED" else shelf.put(obj)
            self.queues.touch(found)
            touched |= found | self._seat(resource, found)
        return touched

    def replace_pods(self, key: Key, pods: Iterable[JSON], as_of: int) -> set[Key]:
        """All pods of one group, from a list of that version."""
        touched = self._shelves["pods"].replace(pods, among=key, as_of=as_of)
        self.queues.touch(touched)
        return touched

    def learn(self, key: Key, write: Write, reply: Reply) -> set[Key]:
        """What the answer to a write for a group says about the object written."""
        if write.method == "DELETE" and (reply.ok or reply.status == 404):
            return self._forget(key, write.path)
        if reply.ok and write.path.endswith("/eviction") and isinstance(write.body, dict):
            self.victims.evicted(write.body["deleteOptions"]["preconditions"]["uid"])
        resource = _KINDS.get(str(reply.body.get("kind")))
        if reply.ok and resource is not None:
            return self.observe(resource, "MODIFIED", reply.body)
        return self._forget(key, write.path) if reply.status == 404 else set()

    def view(self, key: Key) -> View:
        """The objects of a group."""
        return View(self.group(key), self.pods(key), self.reservation(key))

    def group(self, key: Key) -> JSON | None:
        return self._shelves["podgroups"].newest(key)

    def groups(self) -> tuple[JSON, ...]:
        """All pod groups."""
        shelf = self._shelves["podgroups"]
        return tuple(obj for key in sorted(shelf.keys()) for obj in shelf.at(key))

    def reservation(self, key: Key) -> JSON | None:
        return self._shelves["reservations"].newest(key)

    def lost(self, key: Key) -> frozenset[str]:
        """The UIDs of reserved members whose places are lost."""
        return self._holdings.lost(key)

    def pods(self, key: Key) -> tuple[JSON, ...]:
        return self._shelves["pods"].at(key)

    def knows(self, key: Key) -> bool:
        """Whether anything is left of a group."""
        return any(shelf.at(key) for shelf in self._shelves.values())

    def _seat(self, resource: str, keys: Iterable[Key]) -> set[Key]:
        touched = set[Key]()
        for key in [*keys] if resource == "reservations" else ():
            self._holdings.seat(key, self.reservation(key))
            touched |= self.victims.decide(key, self.reservation(key))
        return touched

    def _forget(self, key: Key, path: str) -> set[Key]:
        """Drop the object at a path: the server says that there is none."""
        namespace, name = key
        if path == reservations.path(namespace, name):
            gone = [("reservations", self.reservation(key))]
        elif path == f"{groups_path(namespace, name)}/status":
            gone = [("podgroups", self.group(key))]
        else:
            pods = f"/api/v1/namespaces/{namespace}/pods/"
            named = path.removeprefix(pods).split("/")[0] if path.startswith(pods) else ""
            gone = [("pods", pod) for pod in self.pods(key) if pod["metadata"].get("name") == named]
        return set().union(*(self.observe(part, "DELETED", obj) for part, obj in gone if obj is not None))


def items(reply: Reply) -> tuple[list[JSON], int]:
    """The objects of a list, and its version."""
    found = reply.body.get("items")
    return (found if isinstance(found, list) else []), version(reply.body)
