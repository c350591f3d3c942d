"""The garbage collector at work: events in, deletions and patches out.

Stands for kube-controller-manager's garbage collector. An owner may only go when all of its dependents are known.
"""

from collections.abc import Coroutine, Iterable, Mapping
from dataclasses import replace
from typing import Any

from gpuyard.writes import JSON
from gpuyard_cluster.controllers import discovered
from gpuyard_cluster.controllers.garbage import Decision, decide, unknown_owners
from gpuyard_cluster.controllers.graph import Graph, Item, Owner
from gpuyard_cluster.controllers.worker import Worker
from gpuyard_kube.api import Api
from gpuyard_kube.runtime import Runtime

RETRY_SECONDS = 1.0
"""Until an object is looked at again after a write for it failed."""


class GarbageCollector(Worker):
    """A `gpuyard_kube.api.Observer` of `resources`: name -> path of the collection, as an informer takes them."""

    def __init__(self, api: Api, runtime: Runtime, resources: Mapping[str, str]) -> None:
        super().__init__(api, runtime, "garbage-collector", resources)
        self._paths = dict(resources)
        self._graph = Graph()
        self._waiting: dict[str, None] = {}
        self._retries: dict[str, float] = {}

    def follow(self, resource: str, path: str) -> None:
        """One more resource, such as a new custom one, whose objects will come."""
        self._paths[resource] = path

    def replace(self, resource: str, objects: Iterable[JSON]) -> None:
        """All objects of a resource as of now."""
        items = [Item.of(resource, obj) for obj in objects]
        for uid in sorted(self._graph.uids(resource) - {item.uid for item in items}):
            self._touch(self._graph.drop(uid))
        for item in items:
            self._touch(self._graph.put(item))
        self._unseen.discard(resource)
        self._changed.fire()

    def observe(self, resource: str, event: str, obj: JSON) -> None:
        """One change of an object."""
        item = Item.of(resource, obj)
        self._touch(self._graph.drop(item.uid) if event == "DELETED" else self._graph.put(item))
        self._changed.fire()

    def _touch(self, uids: Iterable[str]) -> None:
        self._waiting.update(dict.fromkeys(uids))

    def _next_at(self) -> float | None:
        return min(self._retries.values(), default=None)

    def _next(self) -> Coroutine[Any, Any, None] | None:
        due = [uid for uid, when in self._retries.items() if when <= self._runtime.now()]
        for uid in due:
            del self._retries[uid]
        self._touch(due)
        if not self._waiting:
            return None
        first = next(iter(self._waiting))
        del self._waiting[first]
        return self._collect(first)

    async def _collect(self, uid: str) -> None:
        item = self._graph.get(uid)
        if item is None:
            return
        try:
            absent = [
                owner.uid for owner in unknown_owners(item, self._graph) if await self._is_absent(item, owner)
            ]
            written = [
                await self._write(decision) for decision in decide(item, self._graph, frozenset(absent))
            ]
        except ConnectionError:
            written = [False]
        if not all(written):
            self._retries[uid] = self._runtime.now() + RETRY_SECONDS

    async def _is_absent(self, item: Item, owner: Owner) -> bool:
        """Whether the API server has no such owner. An owner that cannot be looked up counts as present."""
        collection = await discovered.of_kind(self._api, owner.api_version, owner.kind)
        if collection is None or (collection.namespaced and not item.namespace):
            return False
        reply = await self._api.read(collection.path(item.namespace, owner.name))
        if reply.status == 404:
            return True
        if not reply.ok:
            raise ConnectionError(reply.reason)
        return bool(reply.body["metadata"]["uid"] != owner.uid)

    async def _write(self, decision: Decision) -> bool:
        """Whether the write is done, or its object is gone."""
        item, write = decision
        place = f"/namespaces/{item.namespace}" if item.namespace else ""
        base, _, plural = self._paths[item.resource].rpartition("/")
        path = f"{base}{place}/{plural}/{item.name}"
        reply = await self._api.send(replace(write, path=path))
        return reply.ok or reply.status == 404
