"""A client of controllers with which things go wrong as a test wants it."""

from collections.abc import Callable

from gpuyard.writes import Reply, Write
from gpuyard_cluster.apiserver.direct import DirectApi
from gpuyard_cluster.apiserver.server import APIServer


class FaultyApi:
    """It counts writes, can fail some by number, and can let all memory be dropped after each (but for events)."""

    def __init__(self, server: APIServer, drop_memory: Callable[[], None]) -> None:
        self._api, self._drop_memory = DirectApi(server, "controllers"), drop_memory
        self.writes = 0
        self.failing: set[int] = set()
        self.forgetful = False

    async def send(self, write: Write) -> Reply:
        self.writes += 1
        if self.writes in self.failing:
            return Reply(500, {"message": "injected"})
        reply = await self._api.send(write)
        if self.forgetful and "/events" not in write.path:
            self._drop_memory()
        return reply

    async def read(self, path: str, **query: str) -> Reply:
        return await self._api.read(path, **query)
