"""The scheduler at work: events in, one scheduling cycle after the other, binding cycles beside them.

Stands for kube-scheduler's scheduleOne. Everything that it holds can be rebuilt from lists of pods and nodes; it
begins when it has seen both.
"""

from collections.abc import Iterable, Sequence
from random import Random

from gpuyard import vocabulary
from gpuyard.narration import Beat, Narrator, silent
from gpuyard.writes import JSON
from gpuyard_cluster.recording import Recorder, Source
from gpuyard_cluster.scheduler import reports
from gpuyard_cluster.scheduler.attempt import Chosen, Failed, Unschedulable, attempt, describe
from gpuyard_cluster.scheduler.cache import ClusterCache
from gpuyard_cluster.scheduler.extenders import Extender, ExtenderError
from gpuyard_cluster.scheduler.pods import PodInfo
from gpuyard_cluster.scheduler.queue import SchedulingQueue
from gpuyard_kube.api import Api
from gpuyard_kube.runtime import Runtime

_ACTOR = "scheduler"
_SOURCE = Source(vocabulary.SCHEDULER)


class Scheduler:
    """A `gpuyard_kube.api.Observer` of "pods" and "nodes"."""

    def __init__(
        self,
        api: Api,
        runtime: Runtime,
        extenders: Sequence[Extender] = (),
        *,
        seed: int,
        narrate: Narrator = silent,
    ) -> None:
        self._api, self._runtime, self._extenders = api, runtime, tuple(extenders)
        self._random, self._narrate = Random(seed), narrate
        self._queue, self._cache = SchedulingQueue(), ClusterCache()
        self._recorder = Recorder(api, runtime)
        self._changed = runtime.signal()
        self._unseen = {"pods", "nodes"}
        self._stopped = False

    def start(self) -> None:
        """Begin to schedule, as soon as pods and nodes are known."""
        self._runtime.spawn(self._run(), _ACTOR)

    def stop(self) -> None:
        """Take no further pod. A request that is out may still be answered."""
        self._stopped = True
        self._changed.fire()

    def replace(self, resource: str, objects: Iterable[JSON]) -> None:
        """All pods or nodes as of now."""
        if resource == "pods":
            self._replace_pods(list(objects))
        elif resource == "nodes":
            self._replace_nodes(list(objects))
        self._unseen.discard(resource)
        self._changed.fire()

    def observe(self, resource: str, event: str, obj: JSON) -> None:
        """One change of a pod or node."""
        if resource == "pods":
            pod = PodInfo.of(obj)
            if event == "DELETED":
                self._gone(pod.uid)
            else:
                self._pod(pod)
        elif resource == "nodes":
            self._node(event, obj)
        self._changed.fire()

    def _replace_pods(self, pods: list[JSON]) -> None:
        infos = [PodInfo.of(pod) for pod in pods]
        present = {pod.uid for pod in infos}
        for uid in {*self._queue.uids(), *self._cache.booked} - present:
            self._gone(uid)
        for pod in infos:
            self._pod(pod)

    def _replace_nodes(self, nodes: list[JSON]) -> None:
        present = {node["metadata"]["name"] for node in nodes}
        for name in set(self._cache.names) - present:
            self._cache.remove_node(name)
            self._queue.wake()
        for node in nodes:
            self._node("MODIFIED", node)

    def _node(self, event: str, node: JSON) -> None:
        if event == "DELETED":
            woken = self._cache.remove_node(node["metadata"]["name"])
        else:
            woken = self._cache.set_node(node)
        if woken:
            self._queue.wake()

    def _pod(self, pod: PodInfo) -> None:
        if pod.ended:
            self._gone(pod.uid)
        elif pod.node:
            self._queue.remove(pod.uid)
            self._cache.assign(pod)
            self._queue.wake()
        elif not pod.pending:
            self._gone(pod.uid)
        elif not self._cache.assigned(pod.uid):
            self._queue.update(pod)
            self._cache.nominate(pod)

    def _gone(self, uid: str) -> None:
        self._queue.remove(uid)
        self._cache.withdraw(uid)
        if self._cache.release(uid):
            self._queue.wake()

    async def _run(self) -> None:
        while not self._stopped:
            pod = None if self._unseen else self._queue.pop(self._runtime.now())
            if pod is None:
                await self._changed.wait(None if self._unseen else self._queue.next_at())
            else:
                await self._cycle(pod)

    async def _cycle(self, pod: PodInfo) -> None:
        """Filter and score are strictly serial: the next pod's cycle begins when this one's has ended."""
        outcome = await attempt(pod, self._cache, self._extenders, self._random)
        if self._stopped or pod.uid not in self._queue:
            return
        self._tell(pod, describe(outcome))
        match outcome:
            case Chosen(node=node):
                self._cache.assume(pod, node)
                self._runtime.spawn(self._bind(pod, node), f"bind {pod.key}")
            case Unschedulable(message=message):
                await self._reject(pod.uid, message)
            case Failed(message=message):
                await self._fail(pod.uid, message)

    async def _bind(self, pod: PodInfo, node: str) -> None:
        """A binding cycle: the pod stays assumed until it is seen on its node, or the binding has failed."""
        problem = await self._binding_problem(pod, node)
        if not problem:
            self._tell(pod, f"bound to {node}")
            self._recorder.record(_SOURCE, reports.scheduled(pod, node))
        elif pod.uid in self._queue and not self._stopped:
            self._tell(pod, f"not bound to {node}: {problem}")
            self._cache.release(pod.uid)
            self._queue.wake()
            await self._fail(pod.uid, problem)

    async def _binding_problem(self, pod: PodInfo, node: str) -> str:
        """Why the pod could not be bound; empty when it is."""
        for extender in self._extenders:
            if extender.config.bind_verb and extender.interested(pod):
                try:
                    await extender.bind(pod, node)
                except ExtenderError as error:
                    return str(error)
                return ""
        reply = await self._api.send(reports.binding(pod, node))
        return f'running Bind plugin "DefaultBinder": {reply.reason}' if not reply.ok else ""

    async def _reject(self, uid: str, message: str) -> None:
        if await self._report(uid, reports.UNSCHEDULABLE, message):
            self._queue.reject(uid, self._runtime.now())
        else:
            # Nobody would know why the pod waits: try it again, and so the writing.
            self._queue.fail(uid, self._runtime.now())

    async def _fail(self, uid: str, message: str) -> None:
        self._queue.fail(uid, self._runtime.now())
        self._changed.fire()
        await self._report(uid, reports.SCHEDULER_ERROR, message)

    async def _report(self, uid: str, reason: str, message: str) -> bool:
        """Say on the pod why it waits; False when the API server failed to take it."""
        pod, now = self._queue.get(uid), self._runtime.now()
        write = reports.condition(pod, reason, message, now) if pod else None
        if pod is None or write is None:
            return True
        status = (await self._api.send(write)).status
        self._recorder.record(_SOURCE, reports.failed(pod, message))
        return status < 500

    def _tell(self, pod: PodInfo, text: str) -> None:
        self._narrate(Beat(_ACTOR, f"{pod.key}: {text}"))
