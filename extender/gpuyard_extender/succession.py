"""What the extender before this one wrote last, and no watch may have told yet.

Stands for nothing in Kubernetes, whose scheduler keeps its assumptions in memory and lists all pods before it begins;
an extender that stands by has listed them long ago, and is to answer at once. Law: who has just become the active
one asks the API server who is on a node before it gives away what is on it.
"""

import math
from collections.abc import Callable
from typing import Final

from gpuyard.writes import JSON
from gpuyard_kube.api import Api
from gpuyard_kube.runtime import Runtime

LAG_SECONDS: Final = 10.0
"""How far a watch may be behind."""


class Succession:
    """`tell` is told of pods as they are."""

    def __init__(self, api: Api, runtime: Runtime, tell: Callable[[JSON], None]) -> None:
        self._api, self._runtime, self._tell = api, runtime, tell
        self._until = -math.inf

    def begin(self) -> None:
        """This extender has become the active one."""
        self._until = self._runtime.steady() + LAG_SECONDS

    async def look(self, node: str) -> None:
        """Before anything is given away on a node: who is on it."""
        if self._runtime.steady() < self._until:
            reply = await self._api.read("/api/v1/pods", fieldSelector=f"spec.nodeName={node}")
            for pod in reply.body.get("items") or () if reply.ok else ():
                self._tell(pod)
