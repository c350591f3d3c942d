"""What the operator knows of the cluster, rebuilt at any moment from lists alone.

Stands for client-go's shared informers. It learns from watch events, from lists, and from the answers to the
operator's own writes, so that the next decision is not made on what was just changed.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from gpuyard import vocabulary
from gpuyard.groups import queues, reservations
from gpuyard.groups.plans import PlanRequest
from gpuyard.writes import JSON, Reply, Write
from gpuyard_kube.store import Change, Index, Store, version
from gpuyard_operator.deciding.lost_seats import LostSeats
from gpuyard_operator.deciding.victims import Victims
from gpuyard_operator.deciding.view import View
from gpuyard_operator.objects import groups, nodes, pods
from gpuyard_operator.objects.contested import Contested
from gpuyard_operator.objects.groups import Key
from gpuyard_operator.objects.nodes import NodeFacts
from gpuyard_operator.objects.pods import PodFacts
from gpuyard_operator.objects.shapes import sound
from gpuyard_operator.queues.queue_cache import QueueCache
from gpuyard_operator.room import demands, queueing_hints
from gpuyard_operator.room.demands import Demand
from gpuyard_operator.room.headroom import Headroom
from gpuyard_operator.room.queueing_hints import Openings

PATHS = {
    "podgroups": f"/apis/{vocabulary.POD_GROUP_API}/podgroups",
    "reservations": reservations.PATH,
    "queues": queues.PATH,
    "pods": "/api/v1/pods",
    "nodes": "/api/v1/nodes",
}
"""The resources that the operator must know, and where to list them. Pods are all: room appears wherever one ends."""

CROWDS = {resource: PATHS[resource] for resource in ("pods", "nodes")}
"""What comes by the ten thousand: an `Informer` follows these, and misses nothing."""
OTHERS = {resource: path for resource, path in PATHS.items() if resource not in CROWDS}
"""What kopf tells of."""

_KINDS = {"PodGroup": "podgroups", "Reservation": "reservations", "Pod": "pods"}


class Cache:
    """Every method that learns returns the keys of the groups about which there is something new."""

    def __init__(self, *, preempts: bool = True) -> None:
        self.queues, self._listed = QueueCache(self.view), set[str]()
        self.openings = Openings()
        self._pods, self._members = Store(pods.read), Index[Key, PodFacts](lambda pod: pod.group)
        self._groups, self._reservations, self._nodes = Store(sound), Store(sound), Store(nodes.read)
        self._lost = LostSeats(self._pods.get, lambda name: self._nodes.named("", name))
        self.headroom = Headroom(self._pods.get)
        self._contested, self.victims = Contested(), Victims(self._pods.get, preempts=preempts)
        self._fed: dict[str, tuple[Store[Any], Callable[[list[Change[Any]]], set[Key]]]] = {
            "pods": (self._pods, self._pods_changed),
            "nodes": (self._nodes, self._nodes_changed),
            "reservations": (self._reservations, self._reservations_changed),
            "podgroups": (self._groups, self._groups_changed),
            "queues": (self.queues.objects, self.queues.learn),
        }

    @property
    def synced(self) -> bool:
        """Whether each resource was listed; before, nothing may be concluded from what is missing."""
        return self.has_listed(PATHS)

    def has_listed(self, resources: Iterable[str]) -> bool:
        """Whether each of these was."""
        return self._listed.issuperset(resources)

    def replace(self, resource: str, objects: Iterable[JSON], as_of: int | None = None) -> set[Key]:
        """See `Store.replace`."""
        store, changed = self._fed[resource]
        touched = changed(store.replace(objects, as_of))
        if resource in self._listed:
            return touched
        self._listed.add(resource)
        if self.synced:
            self._lost.begin()
        named = (groups.key_of(obj) for store in (self._groups, self._reservations) for obj in store.all())
        return {*self._members.keys(), *named}

    def observe(self, resource: str, event: str, obj: JSON) -> set[Key]:
        """See `gpuyard_kube.api.Observer`."""
        store, changed = self._fed[resource]
        return changed(store.observe(event, obj))

    def replace_pods(self, key: Key, pods: Iterable[JSON], as_of: int) -> set[Key]:
        """All pods of one group, from a list of that version."""
        known = {pod.uid for pod in self._members.at(key)}
        return self._pods_changed(self._pods.replace(pods, as_of, known))

    def learn(self, key: Key, write: Write, reply: Reply) -> set[Key]:
        """What the answer to a write for a group says about the object written."""
        stays = bool((reply.body.get("metadata") or {}).get("deletionTimestamp"))  # for its grace period
        if reply.status == 404 or (reply.ok and write.method == "DELETE" and not stays):
            return self._forget(key, write)
        if reply.ok and write.path.endswith("/eviction") and isinstance(write.body, dict):
            self.victims.evicted(write.body["deleteOptions"]["preconditions"]["uid"])
        resource = _KINDS.get(str(reply.body.get("kind")))
        if reply.ok and resource is not None:
            return self.observe(resource, "MODIFIED", reply.body)
        return set()

    def view(self, key: Key) -> View:
        """The objects of a group."""
        record, contested = self._reservations.named(*key), self._contested.of(key)
        return View(
            self.group(key), self.pods(key), self.reservation(key), record=record, contested=contested
        )

    def group(self, key: Key) -> JSON | None:
        return self._groups.named(*key)

    def groups(self) -> Iterator[JSON]:
        """All pod groups."""
        return self._groups.all()

    def reservation(self, key: Key) -> JSON | None:
        """The Reservation of a group, where it holds places."""
        found = self._reservations.named(*key)
        return found if found is not None and reservations.holds_places(found) else None

    def lost(self, key: Key) -> frozenset[str]:
        """The UIDs of reserved members whose places are lost."""
        return self._lost.of(key)

    def pods(self, key: Key) -> tuple[JSON, ...]:
        return tuple(pod.obj for pod in self._members.at(key) if pod.obj is not None)

    def demand(self, request: PlanRequest) -> Demand | None:
        """What a question asks for, by counts."""
        return demands.read(request, self._pods.get)

    def knows(self, key: Key) -> bool:
        """Whether anything is left of a group."""
        return bool(self.group(key) or self._reservations.named(*key) or self._members.at(key))

    def _pods_changed(self, changes: list[Change[PodFacts]]) -> set[Key]:
        self.headroom.pods(changes)
        self.openings.add(queueing_hints.pods(changes))
        touched = self._members.take(changes)
        self.queues.touch(touched)
        touched |= self._contested.take(changes)
        return touched | self._lost.pods(changes) | self.victims.take(changes)

    def _nodes_changed(self, changes: list[Change[NodeFacts]]) -> set[Key]:
        self.headroom.nodes(changes)
        self.openings.add(queueing_hints.nodes(changes), renewed=True)
        return self.queues.learn_nodes(changes) | self._lost.nodes(changes)

    def _groups_changed(self, changes: list[Change[JSON]]) -> set[Key]:
        touched = {groups.key_of(obj) for it in changes for obj in (it.before, it.after) if obj is not None}
        self.queues.touch(touched)
        return touched

    def _reservations_changed(self, changes: list[Change[JSON]]) -> set[Key]:
        freed = queueing_hints.reservations(changes, self._pods.get)
        touched, others = self._groups_changed(changes), set[Key]()
        for key in touched:
            obj = self.reservation(key)
            found = reservations.from_object(obj) if obj is not None else None
            self._lost.reserve(key, found)
            self.headroom.reserve(key, found)
            others |= self.victims.decide(key, found)
        self.openings.add(freed)
        return touched | others

    def _forget(self, key: Key, write: Write) -> set[Key]:
        """Drop the object of a write, by its UID where that is named: the server says that there is none."""
        (namespace, name), path, uid = key, write.path, _uid(write)
        pods = f"/api/v1/namespaces/{namespace}/pods/"
        if path == reservations.path(namespace, name):
            return self._reservations_changed(self._reservations.forget(namespace, name, uid))
        if path == f"{groups.path(namespace, name)}/status":
            return self._groups_changed(self._groups.forget(namespace, name, uid))
        if path.startswith(pods):
            pod = path.removeprefix(pods).split("/")[0]
            return self._pods_changed(self._pods.forget(namespace, pod, uid))
        return set()


def _uid(write: Write) -> str | None:
    """Of the object that a write is for, where it says so."""
    body = write.body if isinstance(write.body, dict) else {}
    about = body.get("deleteOptions", body)
    found: str | None = (about.get("preconditions") or about.get("metadata") or {}).get("uid")
    return found


def items(reply: Reply) -> tuple[list[JSON], int]:
    """The objects of a list, and its version."""
    found = reply.body.get("items")
    return (found if isinstance(found, list) else []), version(reply.body)
