"""The gang operator: events in, one reconcile of each group at a time, writes out.

Stands for controller-runtime: a queue that coalesces the events of a group, requeue times, retries. It awaits nothing
but its ports, so the same object runs on asyncio and single-stepped. Its memory may be lost between any two writes.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Protocol

from gpuyard import vocabulary
from gpuyard.groups.plans import PlanAnswer, PlanRequest, Unready
from gpuyard.narration import Beat, Narrator, silent
from gpuyard.pods import memberships
from gpuyard.writes import JSON, Write
from gpuyard_kube.api import Api
from gpuyard_kube.loops import keep_on
from gpuyard_kube.recording import Recorder, Source
from gpuyard_kube.runtime import Runtime
from gpuyard_operator import tally
from gpuyard_operator.admission import Admission
from gpuyard_operator.asking import Answered, Known
from gpuyard_operator.cache import PATHS, Cache, items
from gpuyard_operator.groups import Key
from gpuyard_operator.queue_status import QueueStatus
from gpuyard_operator.reconcile import reconcile
from gpuyard_operator.tally import Tally
from gpuyard_operator.view import Decision
from gpuyard_operator.work_item import WorkItem

RETRY_SECONDS = 1.0
"""How long after a write that failed a group is looked at again, if nothing happens before."""


class Planner(Protocol):
    """Where a gang can start: the extender."""

    async def plan(self, request: PlanRequest) -> PlanAnswer:
        """The extender's answer; `Unready` when it cannot be reached. Does not raise."""


class Operator:
    """An `Observer` of the resources in `cache.PATHS`; it does nothing before it was given a list of each."""

    def __init__(
        self,
        api: Api,
        runtime: Runtime,
        planner: Planner,
        narrate: Narrator = silent,
        *,
        preempts: bool = True,
    ) -> None:
        self._api, self._runtime, self._planner, self._narrate = api, runtime, planner, narrate
        self._cache, self.tally = Cache(preempts=preempts), Tally()
        self._queue_status = QueueStatus(api, runtime, self._cache.queues)
        self._recorder = Recorder(api, runtime)
        self._change, self._changed_at = 0, runtime.now()
        self._items: dict[Key, WorkItem] = {}
        self._stopped = False

    def replace(self, resource: str, objects: Iterable[JSON]) -> None:
        """All objects of a resource."""
        self._touch(self._cache.replace(resource, objects))

    def observe(self, resource: str, event: str, obj: JSON) -> None:
        """One change of an object."""
        self._touch(self._cache.observe(resource, event, obj))

    async def resync(self) -> str:
        """List everything, beside a watch that may have lost something. Why it failed; empty when it did not."""
        for resource, path in PATHS.items():
            reply = await self._api.read(path)
            if not reply.ok:
                return tally.lacking(f"list {resource}", reply)
            self._touch(self._cache.replace(resource, *items(reply)))
        return ""

    def phases(self) -> Counter[str]:
        """How many pod groups are in each phase."""
        return Counter(str((group.get("status") or {}).get("phase", "")) for group in self._cache.groups())

    def stop(self) -> None:
        """Begin no further write; work that waits ends."""
        self._stopped = True
        self._queue_status.stop()
        for item in self._items.values():
            item.signal.fire()

    def _touch(self, keys: set[Key]) -> None:
        changed = self._cache.openings != self._change
        if changed:
            self._change, self._changed_at = self._cache.openings, self._runtime.now()
        if self._stopped or not self._cache.synced:
            return
        for key in sorted(keys - self._items.keys()):
            item = self._items[key] = WorkItem(key, self._runtime.signal())
            keep_on(self._runtime, partial(self._serve, item), f"operator {'/'.join(key)}")
        waiting = [key for key, item in self._items.items() if item.answers] if changed else []
        for key in sorted({*keys, *waiting}):
            self._items[key].wake()

    async def _serve(self, item: WorkItem) -> bool:
        if self._stopped:
            return False
        item.dirty = False
        await self._turn(item)
        if not item.dirty and not self._stopped:
            if not self._cache.knows(item.key):
                del self._items[item.key]
                return False
            await item.signal.wait(item.wake_at)
        return True

    async def _turn(self, item: WorkItem) -> None:
        """Decide once and do it; the first write that fails ends the turn."""
        decision = self._decide(item)
        if decision.evicts:
            # What was seen may lag behind, and an eviction cannot be taken back.
            if not await self._refresh(item):
                return
            decision = self._decide(item)
        else:
            item.refused.clear()
        item.wake_at = decision.requeue_at
        self._tell(item, decision.says)
        for write in decision.writes:
            if self._stopped or not await self._write(item, write):
                return
        for told in decision.events:
            self._recorder.record(Source(vocabulary.OPERATOR), told)
        if decision.ask is not None and not self._stopped:
            await self._ask(item, decision.ask)

    def _decide(self, item: WorkItem) -> Decision:
        self.tally.reconciles += 1
        reservation, victims = self._cache.reservation(item.key), self._cache.victims
        if reservation is not None:
            item.spend()
        view = replace(
            self._cache.view(item.key),
            known=Known(tuple(item.answers), self._change, self._changed_at, victims.lowest),
            preemption=victims.of(item.key),
            lost=self._cache.lost(item.key),
            refused=frozenset(item.refused),
            admission=self._admission(item.key),
        )
        decision = reconcile(view, self._runtime.now())
        self._cache.queues.intend(item.key, decision.writes)
        return decision

    def _admission(self, key: Key) -> Admission | None:
        """What its queue says to a group; others to which it says something new look at it too."""
        queues = self._cache.queues
        queues.intend(key, ())
        queues.touch((key,))
        others = queues.settle(self._runtime.now()) - {key}
        self._queue_status.look()
        for other in sorted(others & self._items.keys()):
            self._items[other].wake()
        return queues.admission(key)

    async def _write(self, item: WorkItem, write: Write) -> bool:
        reply = await self._api.send(write)
        self._touch(self._cache.learn(item.key, write, reply))
        done = self.tally.note(write, reply)
        if not done:
            self._tell(item, f"{write.method} {write.path} failed, trying again: {reply.reason}")
            item.wake_at = self._runtime.now() + RETRY_SECONDS
            if write.path.endswith("/eviction") and write.path not in item.refused:
                item.refused.add(write.path)
                item.dirty = True  # the time of a half bound gang is up: there is no second to lose
        return done

    async def _ask(self, item: WorkItem, request: PlanRequest) -> None:
        change = self._change
        answer = await self._planner.plan(request)
        item.answers.append(Answered(request, answer, change, self._runtime.now()))
        if isinstance(answer, Unready) and not self._stopped:
            await self._refresh(item)  # a pod that the extender does not know may be gone
        item.dirty = True

    async def _refresh(self, item: WorkItem) -> bool:
        namespace, name = item.key
        usual = all(map(memberships.is_selectable, self._cache.pods(item.key)))
        query = {"labelSelector": f"{vocabulary.POD_GROUP}={name}"} if usual else {}
        reply = await self._api.read(f"/api/v1/namespaces/{namespace}/pods", **query)
        if not reply.ok:
            item.wake_at = self._runtime.now() + RETRY_SECONDS
            return False
        self._touch(self._cache.replace_pods(item.key, *items(reply)))
        return True

    def _tell(self, item: WorkItem, text: str) -> None:
        if text and text != item.said:
            item.said = text
            self._narrate(Beat(vocabulary.OPERATOR, f"gang {'/'.join(item.key)} {text}"))
