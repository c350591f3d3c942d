"""What the extender before this one wrote last, and no watch may have told yet.

Stands for nothing in Kubernetes, whose scheduler keeps its assumptions in memory and lists all pods before it begins;
an extender that stands by has listed them long ago, and is to answer at once. Law: who has just become the active
one asks the API server, once for each node, who is on it before it gives away what is on it.
"""

import math
from collections.abc import Callable, Iterable
from typing import Final

from gpuyard.writes import JSON
from gpuyard_kube.api import Api
from gpuyard_kube.runtime import Runtime, Signal

LAG_SECONDS: Final = 10.0
"""How far a watch may be behind."""
LOOK_SECONDS: Final = 1.5
"""How long a Bind waits for the answer: kube-scheduler waits 5 s in all, and some of them for the next extender."""


class Succession:
    """`tell` is told of the pods on a node as they are."""

    def __init__(self, api: Api, runtime: Runtime, tell: Callable[[Iterable[JSON]], None]) -> None:
        self._api, self._runtime, self._tell = api, runtime, tell
        self._until, self._since = -math.inf, 0
        self._known, self._looking = set[str](), dict[str, Signal]()

    def begin(self) -> None:
        """This extender has become the active one."""
        self._until = self._runtime.steady() + LAG_SECONDS
        self._known.clear()
        self._since += 1

    def listed(self) -> None:
        """All pods have been listed: what is being answered may be older, and tell of pods that are gone."""
        self._since += 1

    async def look(self, node: str) -> bool:
        """Whether it is known who is on a node; after a short wait, if need be."""
        if node in self._known or self._runtime.steady() >= self._until:
            return True
        answered = self._looking.get(node)
        if answered is None:
            answered = self._looking[node] = self._runtime.signal()
            self._runtime.spawn(self._ask(node, answered), f"who is on {node}")
        return await answered.wait(self._runtime.now() + LOOK_SECONDS) and node in self._known

    async def _ask(self, node: str, answered: Signal) -> None:
        since = self._since
        try:
            reply = await self._api.read("/api/v1/pods", fieldSelector=f"spec.nodeName={node}")
            if reply.ok and since == self._since:
                self._tell(reply.body.get("items") or ())
                self._known.add(node)
        finally:
            del self._looking[node]
            answered.fire()
