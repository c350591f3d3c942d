"""An API server on 127.0.0.1 for a test, and an observer that notes what it is told."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field

from gpuyard.writes import JSON, Write
from gpuyard_cluster.apiserver import http
from gpuyard_cluster.apiserver.http import Listener
from gpuyard_cluster.apiserver.server import APIServer
from gpuyard_kube.http import HttpApi

CONFIGS = "/api/v1/namespaces/default/configmaps"
SECONDS = 20.0
"""Longer than anything here takes: a test that waits longer waits in vain."""


def config(name: str, **data: str) -> JSON:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def create(name: str, **data: str) -> Write:
    return Write("POST", CONFIGS, config(name, **data))


@dataclass
class Served:
    """A server, where it listens, and a client of it."""

    server: APIServer
    listener: Listener
    api: HttpApi

    @property
    def port(self) -> int:
        return int(self.listener.url.rpartition(":")[2])

    async def restart(self) -> None:
        """The server listens again at the same address."""
        await self.listener.close()
        self.listener = await http.serve(self.server, port=self.port)


@contextlib.asynccontextmanager
async def served(history: int = 1000) -> AsyncIterator[Served]:
    server = APIServer(lambda: 1_700_000_000.0, history=history)
    listener = await http.serve(server)
    found = Served(server, listener, HttpApi.at(listener.url))
    try:
        async with asyncio.timeout(SECONDS):
            yield found
    finally:
        await found.api.close()
        await found.listener.close()


@dataclass
class Notes:
    """An observer: the objects that it knows by name, and each thing that it was told."""

    known: dict[str, JSON] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    lists: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def replace(self, resource: str, objects: Iterable[JSON]) -> None:
        self.known = {found["metadata"]["name"]: found for found in objects}
        self.lists += 1
        self.told.append(f"{resource} {sorted(self.known)}")
        self.changed.set()

    def observe(self, resource: str, event: str, obj: JSON) -> None:
        name = obj["metadata"]["name"]
        if event == "DELETED":
            del self.known[name]
        else:
            self.known[name] = obj
        self.told.append(f"{resource} {event} {name}")
        self.changed.set()

    async def until(self, what: Callable[[], bool]) -> None:
        while not what():
            self.changed.clear()
            await self.changed.wait()
