"""Making room: the pods that have to leave are told so, and are deleted.

Stands for the preemption Executor. Law: it may be done again at any point; a pod that is leaving or gone needs
nothing.
"""

from gpuyard import vocabulary
from gpuyard_cluster.scheduler import reports
from gpuyard_cluster.scheduler.cache import ClusterCache
from gpuyard_cluster.scheduler.pods import PodInfo
from gpuyard_cluster.scheduler.preemption import Preemption
from gpuyard_kube.api import Api
from gpuyard_kube.recording import Recorder, Source
from gpuyard_kube.runtime import Runtime

_GONE = (404, 409, 422)
"""There is no such pod, or one of the same name that has another UID."""


class Executor:
    """Does to the victims, and to those who counted on their node, what a preemption means for them."""

    def __init__(self, api: Api, runtime: Runtime, cache: ClusterCache, recorder: Recorder) -> None:
        self._api, self._runtime, self._cache, self._recorder = api, runtime, cache, recorder

    async def make_room(self, pod: PodInfo, found: Preemption) -> str:
        """Remove the victims; why that could not be done, or empty."""
        await self._disappoint(pod, found.node)
        for victim in found.victims:
            if not victim.leaving and (problem := await self._remove(victim, pod, found.node)):
                return problem
        return ""

    async def _disappoint(self, pod: PodInfo, node: str) -> None:
        """Pods of lower priority that were promised the node look for another one."""
        waiting = [other for other in self._cache.nominator.on(node) if other.priority < pod.priority]
        for other in waiting:
            self._cache.nominator.withdraw(other.uid)
            await self._api.send(reports.no_nomination(other))

    async def _remove(self, victim: PodInfo, pod: PodInfo, node: str) -> str:
        for write in reports.removal(victim, self._runtime.now()):
            reply = await self._api.send(write)
            if reply.status in _GONE:
                return ""
            if not reply.ok:
                return f"cannot preempt {victim.key}: {reply.reason}"
        self._cache.evicted(victim.uid)
        self._recorder.record(Source(vocabulary.SCHEDULER), reports.preempted(victim, pod, node))
        return ""
