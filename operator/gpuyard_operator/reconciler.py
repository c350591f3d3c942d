"""One look at a pod group: decide, write, ask the extender.

Stands for the Reconciler of controller-runtime. Law: what the answers to its own writes say is known before the next
decision; the first write that fails ends the turn, as a place does that is lost meanwhile, and what was not done is
decided anew.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from gpuyard import vocabulary
from gpuyard.groups.plans import PlanAnswer, PlanRequest, Unready
from gpuyard.narration import Beat, Narrator, silent
from gpuyard.pods import memberships
from gpuyard.writes import JSON, Write
from gpuyard_kube.api import Api
from gpuyard_kube.recording import Recorder, Source, Told
from gpuyard_kube.runtime import Runtime
from gpuyard_operator import tally
from gpuyard_operator.cache import Cache, items
from gpuyard_operator.deciding.admission import Admission
from gpuyard_operator.deciding.asking import Answered, Known
from gpuyard_operator.deciding.reconcile import reconcile
from gpuyard_operator.deciding.view import Decision
from gpuyard_operator.objects.groups import Key
from gpuyard_operator.queues.queue_status import QueueStatus
from gpuyard_operator.tally import Tally
from gpuyard_operator.unschedulable import Unschedulable
from gpuyard_operator.work_item import WorkItem

RETRY_SECONDS = 1.0
"""How long after a write that failed a group is looked at again, if nothing happens before."""


class Planner(Protocol):
    """Where a gang can start: the extender."""

    async def plan(self, request: PlanRequest) -> PlanAnswer:
        """The extender's answer; `Unready` when it cannot be reached. Does not raise."""


@dataclass(frozen=True, slots=True)
class Site:
    """All that an operator reaches beyond itself."""

    api: Api
    runtime: Runtime
    planner: Planner
    narrate: Narrator = silent


class Reconciler:
    """`touch` is told of the groups about which there is something new."""

    def __init__(
        self, site: Site, cache: Cache, unschedulable: Unschedulable, touch: Callable[[set[Key]], None]
    ) -> None:
        self._api, self._runtime, self._planner, self._narrate = (
            site.api,
            site.runtime,
            site.planner,
            site.narrate,
        )
        self._cache, self._unschedulable, self._touch = cache, unschedulable, touch
        self.tally, self._recorder = Tally(), Recorder(site.api, site.runtime)
        self._queue_status = QueueStatus(site.api, site.runtime, cache.queues, touch)
        self._stopped = False

    def stop(self) -> None:
        """Begin no further write."""
        self._stopped = True
        self._queue_status.stop()

    async def turn(self, item: WorkItem) -> bool:
        """Decide once and do it; the first write that fails ends the turn. Whether all it did was to tell people."""
        decision = self._decide(item)
        if decision.final:
            # What was seen may lag behind, and an eviction cannot be taken back.
            if not await self._refresh(item):
                return False
            decision = self._decide(item)
        else:
            item.refused.clear()
        item.wake_at = decision.requeue_at
        self._tell(item, decision.says)
        lost = self._cache.lost(item.key)
        for write in decision.writes:
            # A gate that was taken away cannot be put back: not for a place that was lost meanwhile.
            if self._stopped or self._cache.lost(item.key) - lost or not await self._write(item, write):
                return False
            if write.path in decision.written:
                self._record(decision.written[write.path])
        for told in decision.events:
            self._record(told)
        if decision.ask is not None and not self._stopped:
            await self._ask(item, decision.ask, decision.retells)
        return decision.ask is None and all(map(tally.is_status, decision.writes))

    def _decide(self, item: WorkItem) -> Decision:
        self.tally.reconciles += 1
        reservation, victims = self._cache.reservation(item.key), self._cache.victims
        if reservation is not None:
            item.spend()
        item.see(self._cache.pods(item.key), reservation, self._runtime.now())
        view = replace(
            self._cache.view(item.key),
            told_at=item.told[1],
            seen=item.seen,
            leaving=item.leaving,
            known=Known(
                tuple(item.answers),
                self._unschedulable.opened(item.key),
                victims.lowest,
                self._unschedulable.take_turn(item.key),
            ),
            preemption=victims.of(item.key),
            lost=self._cache.lost(item.key),
            refused=frozenset(item.refused),
            admission=self._admission(item.key),
        )
        decision = reconcile(view, self._runtime.now())
        self._touch(self._cache.queues.intend(item.key, decision.writes, asks=decision.ask is not None))
        return decision

    def _admission(self, key: Key) -> Admission | None:
        """What its queue says to a group; others to which it says something new look at it too."""
        queues = self._cache.queues
        queues.intend(key)
        if queues.has(key):  # its place in the line may depend on the time
            queues.touch((key,))
        others = queues.settle(self._runtime.now()) - {key}
        self._queue_status.look()
        self._touch({other for other in others if self._cache.knows(other)})
        return queues.admission(key)

    async def _write(self, item: WorkItem, write: Write) -> bool:
        reply, before = await self._api.send(write), self._cache.group(item.key)
        touched = self._cache.learn(item.key, write, reply)
        if self._is_first_status(item.key, write, before):
            touched.discard(item.key)
        self._touch(touched)
        done = self.tally.note(write, reply)
        if not done:
            self._tell(item, f"{write.method} {write.path} failed, trying again: {reply.reason}")
            item.wake_at = self._runtime.now() + RETRY_SECONDS
            if write.path.endswith("/eviction") and write.path not in item.refused:
                item.refused.add(write.path)
                item.dirty = True  # the time of a half bound gang is up: there is no second to lose
        return done

    def _is_first_status(self, key: Key, write: Write, before: JSON | None) -> bool:
        """Whether a group has been told something for the first time, and nothing else of it has changed.

        Then it need not look again, as thousands would at a start. In a queue others may look by that.
        """
        after = self._cache.group(key)
        if self._cache.queues.has(key) or before is None or after is None:
            return False
        new = "phase" not in before["status"] and tally.is_status(write)
        told = isinstance(write.body, dict) and after["status"] == write.body.get("status")
        return new and told and _wished(before) == _wished(after)

    async def _ask(self, item: WorkItem, request: PlanRequest, retells: bool) -> None:
        openings = self._unschedulable.last.count
        answer = await self._planner.plan(request)
        item.answers.append(Answered(request, answer, openings, self._runtime.now(), retells))
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

    def _record(self, told: Told) -> None:
        self._recorder.record(Source(vocabulary.OPERATOR), told)

    def _tell(self, item: WorkItem, text: str) -> None:
        if text and text != item.said:
            item.said = text
            self._narrate(Beat(vocabulary.OPERATOR, f"gang {'/'.join(item.key)} {text}"))


def _wished(group: JSON) -> JSON:
    """All of a group but its status, and what each write of that changes."""
    moving = ("resourceVersion", "managedFields")
    head = {key: value for key, value in group["metadata"].items() if key not in moving}
    return {**group, "metadata": head, "status": None}
