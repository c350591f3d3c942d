"""A part of the cluster that can die alone on the stepped clock, as a process does that gets kill -9."""

from collections.abc import Coroutine
from typing import Any

from gpuyard_cluster.clock import Steps, Task
from gpuyard_kube.runtime import Signal


class Scope:
    """The runtime of one part of the cluster, which can die alone: `end` drops all its work, as kill -9 does."""

    def __init__(self, clock: Steps) -> None:
        self._clock, self._alive = clock, True

    def now(self) -> float:
        return self._clock.now()

    def steady(self) -> float:
        return self._clock.steady()

    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        self._clock.start(Task(work, name, self.alive))

    async def sleep_until(self, when: float) -> None:
        await self._clock.sleep_until(when)

    def signal(self) -> Signal:
        return self._clock.signal()

    def alive(self) -> bool:
        return self._alive

    def end(self) -> None:
        self._alive = False
