"""An API server on a stepped clock with both controllers, whose memory can be dropped and whose writes can fail."""

from collections.abc import Callable
from typing import Any

from gpuyard.writes import JSON, PatchType, Reply, Write
from gpuyard_cluster.apiserver.direct import DirectApi, feed
from gpuyard_cluster.apiserver.server import APIServer
from gpuyard_cluster.clock import Steps
from gpuyard_cluster.controllers.garbage_collector import GarbageCollector
from gpuyard_cluster.controllers.namespaces import NamespaceController
from tests.cluster.controllers.faulty_api import FaultyApi
from tests.stepping import settle

RESOURCES = {plural: f"/api/v1/{plural}" for plural in ("configmaps", "secrets", "pods")}
NAMESPACES = {"namespaces": "/api/v1/namespaces"}


class World:
    """`kubectl` is a client of the same server."""

    def __init__(self) -> None:
        self.steps = Steps()
        self.server = APIServer(self.steps.now)
        self.kubectl = DirectApi(self.server, "kubectl")
        self.api = FaultyApi(self.server, self.restart)
        self._stops: list[Callable[[], None]] = []
        self.restart()

    def restart(self) -> None:
        """Controllers that know nothing take the place of the present ones."""
        self.stop()
        collector = GarbageCollector(self.api, self.steps, RESOURCES)
        namespaces = NamespaceController(self.api, self.steps)
        feeds = [
            feed(self.server, collector, RESOURCES, self._deliver),
            feed(self.server, namespaces, NAMESPACES, self._deliver),
        ]
        collector.start()
        namespaces.start()
        self._stops = [part.stop for part in (collector, namespaces, *feeds)]

    def stop(self) -> None:
        """Stop the controllers."""
        for stop in self._stops:
            stop()

    def settle(self, seconds: float = 0.0) -> None:
        """Run everything that happens within the next `seconds`."""
        settle(self.steps, self.steps.now() + seconds)

    def create(self, plural: str, name: str, *owners: JSON, **fields: Any) -> JSON:
        """A new object in the namespace `default`, owned by `owners`; `fields` go into its metadata."""
        references = [reference(owner) for owner in owners]
        namespace = fields.pop("namespace", "default")
        body = {"metadata": {"name": name, "ownerReferences": references, **fields}}
        if plural == "namespaces":
            return self.send(Write("POST", "/api/v1/namespaces", body))
        return self.send(Write("POST", f"/api/v1/namespaces/{namespace}/{plural}", body))

    def delete(self, path: str, policy: str = "Background") -> JSON:
        return self.send(Write("DELETE", f"/api/v1/{path}", {"propagationPolicy": policy}))

    def merge(self, path: str, metadata: JSON) -> JSON:
        write = Write("PATCH", f"/api/v1/{path}", {"metadata": metadata}, PatchType.MERGE)
        return self.send(write)

    def send(self, write: Write) -> JSON:
        reply: Reply = self.steps.complete(self.kubectl.send(write))
        assert reply.ok, reply.body
        return reply.body

    def get(self, path: str) -> JSON | None:
        """The object; None when there is none."""
        reply: Reply = self.steps.complete(self.kubectl.read(f"/api/v1/{path}"))
        assert reply.ok or reply.status == 404, reply.body
        return reply.body if reply.ok else None

    def _deliver(self, name: str, call: Any) -> None:
        self.steps.call_at(self.steps.now(), name, call)


def reference(owner: JSON, *, blocking: bool = True) -> JSON:
    """An owner reference to a stored object."""
    metadata = owner["metadata"]
    named = {"apiVersion": "v1", "kind": owner["kind"], "name": metadata["name"], "uid": metadata["uid"]}
    return {**named, "blockOwnerDeletion": blocking}
