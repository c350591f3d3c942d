"""The API server as one of several candidates may use it: who does not lead writes nothing.

Stands for the fence that client-go's leader election leaves to others. Law: a holder that was stopped for a while (a
suspended laptop, a starved machine) finds out by its own clock that its Lease may have run out, before it writes.
"""

import math
from collections.abc import Callable
from typing import Final

from gpuyard.writes import Reply, Write
from gpuyard_kube.api import Api
from gpuyard_kube.runtime import Runtime

_REFUSED: Final = Reply(503, {"message": "another one is the active one"})


class FencedApi:
    """For those who may write only while something is so."""

    def __init__(self, api: Api, runtime: Runtime, may_write: Callable[[], bool]) -> None:
        self._api, self._may_write = api, may_write
        self._under_way, self._answered = 0, runtime.signal()

    async def send(self, write: Write) -> Reply:
        if not self._may_write():
            return _REFUSED
        self._under_way += 1
        try:
            return await self._api.send(write)
        finally:
            self._under_way -= 1
            self._answered.fire()

    async def quiet(self, until: float) -> bool:
        """Wait until no write is under way; False when `until` (seconds since the epoch) came first."""
        while self._under_way:
            if not await self._answered.wait(until):
                return False
        return True

    async def read(self, path: str, **query: str) -> Reply:
        return await self._api.read(path, **query)


class BallotApi:
    """For the writes of an election, each of which holds the Lease for `seconds`; `held` is told of each."""

    def __init__(self, api: Api, runtime: Runtime, seconds: float, held: Callable[[], None]) -> None:
        self._api, self._runtime, self._seconds, self._held = api, runtime, seconds, held
        self._until, self.used = -math.inf, False

    @property
    def holds(self) -> bool:
        """Whether nobody else can hold the Lease, as far as clocks go."""
        return self._runtime.steady() < self._until

    async def send(self, write: Write) -> Reply:
        began, self.used = self._runtime.steady(), True
        reply = await self._api.send(write)
        if reply.ok:
            self._until = began + self._seconds
            self._held()
        return reply

    async def read(self, path: str, **query: str) -> Reply:
        return await self._api.read(path, **query)
