"""How every controller works: one thing after the other, as long as there is any, until it is told to stop.

Stands for the work queues of kube-controller-manager and its `WaitForNamedCacheSync`. Law: nothing is done before a
list of each resource has been seen; whoever adds something to do fires `_changed`.
"""

from abc import ABC, abstractmethod
from collections.abc import Coroutine, Iterable
from typing import Any

from gpuyard_kube.api import Api
from gpuyard_kube.loops import keep_on
from gpuyard_kube.runtime import Runtime


class Worker(ABC):
    """`unseen` are the resources of which a list has to come first."""

    def __init__(self, api: Api, runtime: Runtime, actor: str, unseen: Iterable[str] = ()) -> None:
        self._api, self._runtime, self._actor = api, runtime, actor
        self._unseen = set(unseen)
        self._changed = runtime.signal()
        self._stopped = False

    def start(self) -> None:
        """Begin to work, as soon as all resources are known."""
        keep_on(self._runtime, self._turn, self._actor)

    def stop(self) -> None:
        """Do nothing more."""
        self._stopped = True
        self._changed.fire()

    @abstractmethod
    def _next(self) -> Coroutine[Any, Any, None] | None:
        """What is to be done now; None for nothing."""

    @abstractmethod
    def _next_at(self) -> float | None:
        """When there will be something to do without anything happening."""

    async def _turn(self) -> bool:
        if self._stopped:
            return False
        work = None if self._unseen else self._next()
        if work is None:
            await self._changed.wait(None if self._unseen else self._next_at())
        else:
            await work
        return True
