"""The scheduler at work: events in, one scheduling cycle after the other, binding cycles beside them.

Stands for kube-scheduler's scheduleOne. Everything that it holds can be rebuilt from lists of objects; it
begins when it has seen them.
"""

from collections.abc import Iterable, Sequence
from random import Random

from gpuyard import vocabulary
from gpuyard.narration import Beat, Narrator, silent
from gpuyard.writes import JSON
from gpuyard_cluster.scheduler import reports
from gpuyard_cluster.scheduler.attempt import Chosen, Failed, Unschedulable, attempt, describe
from gpuyard_cluster.scheduler.cache import ClusterCache
from gpuyard_cluster.scheduler.event_handlers import EventHandlers
from gpuyard_cluster.scheduler.executor import Executor
from gpuyard_cluster.scheduler.extenders import Extender, ExtenderError
from gpuyard_cluster.scheduler.pods import PodInfo
from gpuyard_cluster.scheduler.preemption import DefaultPreemption, Preemption, Spared
from gpuyard_cluster.scheduler.queue import SchedulingQueue
from gpuyard_kube.api import Api
from gpuyard_kube.loops import keep_on
from gpuyard_kube.recording import Recorder, Source
from gpuyard_kube.runtime import Runtime

_ACTOR = "scheduler"
_SOURCE = Source(vocabulary.SCHEDULER)


class Scheduler:
    """A `gpuyard_kube.api.Observer` of `event_handlers.RESOURCES`."""

    def __init__(
        self,
        api: Api,
        runtime: Runtime,
        extenders: Sequence[Extender] = (),
        *,
        seed: int,
        narrate: Narrator = silent,
    ) -> None:
        self._api, self._runtime = api, runtime
        self._extenders = tuple(sorted(extenders, key=lambda found: found.config.ignorable))
        self._random, self._narrate = Random(seed), narrate
        self._queue, self._cache = SchedulingQueue(), ClusterCache()
        self._handlers = EventHandlers(self._queue, self._cache)
        self._recorder = Recorder(api, runtime)
        self._preemption = DefaultPreemption(
            self._cache, self._handlers.budgets, self._extenders, self._random
        )
        self._executor = Executor(api, runtime, self._cache, self._recorder)
        self._changed = runtime.signal()
        self._stopped = False

    def start(self) -> None:
        """Begin to schedule, as soon as everything is known."""
        keep_on(self._runtime, self._turn, _ACTOR)

    def stop(self) -> None:
        """Take no further pod. A request that is out may still be answered."""
        self._stopped = True
        self._changed.fire()

    def replace(self, resource: str, objects: Iterable[JSON]) -> None:
        """All objects of one of `RESOURCES` as of now."""
        self._handlers.replace(resource, objects)
        self._changed.fire()

    def observe(self, resource: str, event: str, obj: JSON) -> None:
        """One change of such an object."""
        self._handlers.observe(resource, event, obj)
        self._changed.fire()

    async def _turn(self) -> bool:
        if self._stopped:
            return False
        synced = self._handlers.synced
        pod = self._queue.pop(self._runtime.now()) if synced else None
        if pod is None:
            await self._changed.wait(self._queue.next_at() if synced else None)
        else:
            await self._cycle(pod)
        return True

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
            case Unschedulable():
                await self._reject(pod, outcome)
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
                    if extender.config.ignorable:
                        continue
                    return str(error)
                return ""
        reply = await self._api.send(reports.binding(pod, node))
        return f'running Bind plugin "DefaultBinder": {reply.reason}' if not reply.ok else ""

    async def _reject(self, pod: PodInfo, failed: Unschedulable) -> None:
        found = await self._preemption.post_filter(pod, failed)
        if self._stopped or pod.uid not in self._queue:
            return
        if isinstance(found, Preemption):
            problem = await self._preempt(pod, failed.message, found)
        else:
            problem = await self._spare(pod, failed.message, found)
        if problem:
            # Nobody would know why the pod waits, or who has to go: try it again, and so the writing.
            self._tell(pod, problem)
            self._queue.fail(pod.uid, self._runtime.now())
        else:
            self._queue.reject(pod.uid, self._runtime.now())

    async def _preempt(self, pod: PodInfo, message: str, found: Preemption) -> str:
        """The node is promised before anybody leaves it, so that no other pod takes the room."""
        names = ", ".join(victim.key for victim in found.victims)
        self._tell(pod, f"is promised {found.node}, for which {names} must leave")
        self._cache.nominator.nominate(pod, found.node)
        problem = await self._report(pod.uid, reports.UNSCHEDULABLE, message, found.node)
        return problem or await self._executor.make_room(pod, found)

    async def _spare(self, pod: PodInfo, message: str, found: Spared) -> str:
        if found.hopeless:
            self._cache.nominator.withdraw(pod.uid)
        nominated = "" if found.hopeless else None
        text = f"{message} {found.message}".rstrip()
        return await self._report(pod.uid, reports.UNSCHEDULABLE, text, nominated)

    async def _fail(self, uid: str, message: str) -> None:
        self._cache.nominator.withdraw(uid)
        self._queue.fail(uid, self._runtime.now())
        self._changed.fire()
        await self._report(uid, reports.SCHEDULER_ERROR, message, "")

    async def _report(self, uid: str, reason: str, message: str, nominated: str | None) -> str:
        """Say on the pod why it waits, and for which node; why the API server failed to take it, or empty."""
        pod, now = self._queue.get(uid), self._runtime.now()
        write = reports.condition(pod, reason, message, now, nominated=nominated) if pod else None
        if pod is None or write is None:
            return ""
        reply = await self._api.send(write)
        self._recorder.record(_SOURCE, reports.failed(pod, message))
        return reply.reason if reply.status >= 500 else ""

    def _tell(self, pod: PodInfo, text: str) -> None:
        self._narrate(Beat(_ACTOR, f"{pod.key}: {text}"))
