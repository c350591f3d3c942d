"""The namespace controller at work: what is in a namespace goes before the namespace does.

Stands for kube-controller-manager's namespace controller. What each namespace still holds is asked of the API server
anew each time, so there is nothing to lose.
"""

from collections.abc import Coroutine, Iterable
from typing import Any

from gpuyard.writes import JSON, Write
from gpuyard_cluster.controllers import content, discovered
from gpuyard_cluster.controllers.worker import Worker
from gpuyard_kube.api import Api
from gpuyard_kube.runtime import Runtime
from gpuyard_kube.timestamps import rfc3339

POLL_SECONDS = 0.5
"""Between two looks at a namespace whose content needs time to go."""


class NamespaceController(Worker):
    """A `gpuyard_kube.api.Observer` of "namespaces". Events of other resources may be given too: they save time."""

    def __init__(self, api: Api, runtime: Runtime) -> None:
        super().__init__(api, runtime, "namespace-controller")
        self._leaving: dict[str, JSON] = {}
        self._due: dict[str, float] = {}

    def replace(self, resource: str, objects: Iterable[JSON]) -> None:
        """All namespaces as of now."""
        if resource == "namespaces":
            self._leaving.clear()
            self._due.clear()
            for namespace in objects:
                self.observe(resource, "ADDED", namespace)

    def observe(self, resource: str, event: str, obj: JSON) -> None:
        """One change of a namespace, or the end of an object in one."""
        metadata = obj["metadata"]
        if resource != "namespaces":
            name = metadata.get("namespace", "")
            if event == "DELETED" and name in self._leaving:
                self._look_at(name, self._runtime.now())
        elif event == "DELETED" or not content.is_ours(obj):
            self._leaving.pop(metadata["name"], None)
            self._due.pop(metadata["name"], None)
        else:
            known = metadata["name"] in self._leaving
            self._leaving[metadata["name"]] = obj
            if not known:
                self._look_at(metadata["name"], self._runtime.now())

    def _look_at(self, name: str, when: float) -> None:
        self._due[name] = when
        self._changed.fire()

    def _next_at(self) -> float | None:
        return min(self._due.values(), default=None)

    def _next(self) -> Coroutine[Any, Any, None] | None:
        name, now = min(self._due, key=lambda name: self._due[name], default=""), self._runtime.now()
        if not name or self._due[name] > now:
            return None
        self._due[name] = now + POLL_SECONDS
        return self._empty(name)

    async def _empty(self, name: str) -> None:
        """One round: delete everything, then let the namespace go or say what remains."""
        try:
            remaining = await self._delete_content(name)
        except ConnectionError:
            return
        namespace = self._leaving.get(name)
        if namespace is None:
            return
        if not remaining:
            await self._api.send(content.finish(namespace))
        elif write := content.report(namespace, remaining, rfc3339(self._runtime.now())):
            await self._api.send(write)

    async def _delete_content(self, name: str) -> content.Remaining:
        """Delete all objects in the namespace; those that are still there afterwards."""
        remaining: dict[str, list[JSON]] = {}
        for collection in await discovered.everything(self._api):
            if collection.namespaced and (objects := await self._list(collection.path(name))):
                await self._api.send(Write("DELETE", collection.path(name)))
                objects = await self._list(collection.path(name))
                remaining |= {collection.plural: objects} if objects else {}
        return remaining

    async def _list(self, path: str) -> list[JSON]:
        reply = await self._api.read(path)
        if not reply.ok:
            raise ConnectionError(reply.reason)
        items: list[JSON] = reply.body.get("items") or []
        return items
