"""Tells people what of each queue is used: the status of Queue objects.

Stands for the status updates of Kueue's ClusterQueue controller. Law: a status is written only where it says
something else, and not twice within TELL_SECONDS: of a thousand groups that start in a row it tells a few times.
"""

from collections.abc import Callable
from typing import Final

from gpuyard.groups import queues
from gpuyard.writes import PatchType, Write
from gpuyard_kube.api import Api
from gpuyard_kube.loops import keep_on
from gpuyard_kube.runtime import Runtime
from gpuyard_operator.objects.groups import Key
from gpuyard_operator.queues.queue_cache import QueueCache

TELL_SECONDS: Final = 1.0


class QueueStatus:
    """`look` whenever something may have changed. `touch` is told of the groups that have to look in their turn."""

    def __init__(
        self, api: Api, runtime: Runtime, queues: QueueCache, touch: Callable[[set[Key]], None]
    ) -> None:
        self._api, self._runtime, self._queues, self._touch = api, runtime, queues, touch
        self._working = self._stopped = False
        self._last = ""

    def look(self) -> None:
        if self._queues.changed and not self._working and not self._stopped:
            self._working = True
            keep_on(self._runtime, self._tell, "operator queues")

    def stop(self) -> None:
        """Begin no further write."""
        self._stopped = True

    async def _tell(self) -> bool:
        # After the last one: a fault about one queue is to keep no other from being told of.
        for name in sorted(self._queues.changed, key=lambda name: (name <= self._last, name)):
            self._last = name
            self._queues.changed.discard(name)
            try:
                await self._write(name)
            except Exception:
                self._queues.changed.add(name)
                raise
        await self._runtime.sleep_until(self._runtime.now() + TELL_SECONDS)
        self._working = bool(self._queues.changed) and not self._stopped
        return self._working

    async def _write(self, name: str) -> None:
        status, known = self._queues.state(name).status(), self._queues.queue(name)
        if self._stopped or known is None or known.get("status") == status:
            return
        stale = dict.fromkeys((known.get("status") or {}).get("used") or ())
        body = {"status": {**status, "used": stale | status["used"]}}
        write = Write("PATCH", f"{queues.PATH}/{name}/status", body, PatchType.MERGE)
        reply = await self._api.send(write)
        if reply.ok:
            self._touch(self._queues.learn(self._queues.objects.observe("MODIFIED", reply.body)))
        elif reply.status != 404:
            self._queues.changed.add(name)
