"""Kopf's part: it delivers events, and nothing else.

Stands for controller-runtime's sources. There are only `on.event` handlers: so kopf adds no finalizer, writes no
annotation, keeps no index, and an operator that dies leaves nothing behind. Kopf keeps a task and a memory for each
object: of what comes by the ten thousand, pods and nodes, an `Informer` tells.
"""

import dataclasses
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import kopf

from gpuyard_kube.api import Observer
from gpuyard_kube.connections import connector
from gpuyard_kube.servers import Server
from gpuyard_operator.cache import OTHERS


@dataclasses.dataclass(frozen=True, slots=True)
class Hooks:
    """What is to be done when kopf has started, and before it ends."""

    started: Callable[[], Awaitable[None]]
    ending: Callable[[], Awaitable[None]]


class Sessions:
    """Our own way to the API server, for kopf to use."""

    def __init__(self, server: Server) -> None:
        self._server, self._made = server, list[aiohttp.ClientSession]()

    async def login(self) -> kopf.AiohttpSession:
        """Asked for again when the server answers 401."""
        headers = await self._server.headers()
        own = aiohttp.ClientSession(connector=connector(self._server), headers=headers)
        self._made = [*(made for made in self._made if not made.closed), own]
        return kopf.AiohttpSession(server=self._server.url, aiohttp_session=own)

    async def close(self) -> None:
        """Kopf closes them too, but for when it is stopped before it came to that."""
        for session in self._made:
            await session.close()


class NoDifferences(kopf.DiffBaseStorage):
    """Kopf copies each object for what it says of differences, which no handler here asks for."""

    def build(self, *, body: Any, extra_fields: Any = None) -> kopf.BodyEssence:
        return kopf.BodyEssence({})

    def fetch(self, *, body: Any) -> kopf.BodyEssence | None:
        return None

    def store(self, *, body: Any, patch: Any, essence: Any) -> None:
        """Nothing is kept."""


def registry(observer: Observer, sessions: Sessions, hooks: Hooks) -> kopf.OperatorRegistry:
    """All handlers, in a registry of their own: the default one is shared by the whole process."""
    found = kopf.OperatorRegistry()

    @kopf.on.login(registry=found)
    async def login(**_: Any) -> kopf.AiohttpSession:
        return await sessions.login()

    @kopf.on.startup(registry=found)
    async def start(**_: Any) -> None:
        await hooks.started()

    @kopf.on.cleanup(registry=found)
    async def end(**_: Any) -> None:
        await hooks.ending()

    for resource, path in OTHERS.items():
        # /api/v1/pods, or /apis/GROUP/VERSION/PLURAL
        kopf.on.event(*path.split("/")[2:], registry=found, id=resource)(deliverer(observer, resource))
    return found


def settings() -> kopf.OperatorSettings:
    """Kopf's settings, once and for all."""
    found = kopf.OperatorSettings()
    found.posting.enabled = False  # its Events repeat log lines; verdicts are conditions
    found.peering.standalone = True  # a Lease decides who leads
    found.process.ultimate_exiting_timeout = None  # it would kill the process that embeds us
    found.persistence.diffbase_storage = NoDifferences()
    found.queueing.exit_timeout = 0.5  # handlers only hand over: nothing can be lost
    return found


def deliverer(observer: Observer, resource: str) -> Callable[..., Awaitable[None]]:
    """The handler that hands the events of a resource over."""

    async def deliver(event: Any, **_: Any) -> None:
        # Objects that kopf lists come without a type.
        observer.observe(resource, event["type"] or "ADDED", dict(event["object"]))

    return deliver
