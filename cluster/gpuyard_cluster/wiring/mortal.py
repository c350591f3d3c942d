"""A part as `steps` runs it: one that can die between any two of its writes, and learns nothing after its death."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gpuyard.writes import Reply, Write
from gpuyard_cluster.apiserver.direct import DirectApi, Feed
from gpuyard_cluster.clock import Death
from gpuyard_cluster.scopes import Scope

Watcher = Callable[[str, Write], None]
"""Told (part, write) after each write of a part."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part that runs: its service, the scope in which its work lives, and what it is told."""

    service: Any
    scope: Scope
    feed: Feed

    def end(self) -> None:
        self.feed.stop()
        self.scope.end()


class MortalApi:
    """The API as one part has it: a part that died during a write learns nothing of the answer."""

    def __init__(self, name: str, api: DirectApi, scope: Scope, watchers: Sequence[Watcher]) -> None:
        self._name, self._api, self._scope, self._watchers = name, api, scope, watchers

    async def send(self, write: Write) -> Reply:
        reply = await self._api.send(write)
        for watcher in self._watchers:
            watcher(self._name, write)
        if not self._scope.alive():
            raise Death
        return reply

    async def read(self, path: str, **query: str) -> Reply:
        return await self._api.read(path, **query)
