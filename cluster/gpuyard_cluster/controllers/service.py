"""The controllers at work: events in, one decision after the other, writes out.

Stands for kube-controller-manager: its shared informers, the work queues of its controllers and their event
recorder. All that it knows can be lost at any moment.
"""

import heapq
import math
from collections.abc import Coroutine, Iterable, Sequence
from typing import Any

from gpuyard.writes import JSON, Reply, Write
from gpuyard_cluster.controllers.decisions import Act, Controller, Decision, Note, earliest
from gpuyard_cluster.controllers.objects import Objects
from gpuyard_cluster.controllers.worker import Worker
from gpuyard_kube.api import Api
from gpuyard_kube.recording import Recorder, Source, Told
from gpuyard_kube.runtime import Runtime

RETRY_SECONDS = 1.0
"""Until an object is looked at again after a write for it failed."""
BATCH, BATCH_SECONDS = 500, 0.5
"""An owner of so many pods is looked at so often at most, since each look costs as much as it has pods."""
_Key = tuple[int, str]


class ControllerManager(Worker):
    """A `gpuyard_kube.api.Observer` of `resources`."""

    def __init__(self, api: Api, runtime: Runtime, controllers: Sequence[Controller]) -> None:
        self.resources = {plural: path for each in controllers for plural, path in each.resources.items()}
        super().__init__(api, runtime, "controllers", self.resources)
        self._controllers = tuple(controllers)
        self._objects = Objects()
        self._recorder = Recorder(api, runtime)
        self._due: dict[_Key, None] = {}
        self._later: dict[_Key, float] = {}
        self._moments: list[tuple[float, _Key]] = []
        """A heap, for every node has a moment at which it counts as lost; what `_later` does not confirm is void."""
        self._not_before: dict[_Key, float] = {}

    def replace(self, resource: str, objects: Iterable[JSON]) -> None:
        """All objects of a resource as of now."""
        before = list(self._objects.all(resource))
        self._objects.replace(resource, objects)
        self._unseen.discard(resource)
        for obj in [*before, *self._objects.all(resource)]:
            self._touch(resource, obj)
        self._changed.fire()

    def observe(self, resource: str, event: str, obj: JSON) -> None:
        """One change of an object."""
        if event == "DELETED":
            self._objects.deleted(resource, obj)
        else:
            self._objects.put(resource, obj)
        self._touch(resource, obj)
        self._changed.fire()

    def _touch(self, resource: str, obj: JSON) -> None:
        for number, controller in enumerate(self._controllers):
            if resource in controller.resources:
                for key in controller.keys(resource, obj, self._objects):
                    self._due[number, key] = None

    def _next_at(self) -> float | None:
        while self._moments and self._later.get(self._moments[0][1]) != self._moments[0][0]:
            heapq.heappop(self._moments)
        return self._moments[0][0] if self._moments else None

    def _next(self) -> Coroutine[Any, Any, None] | None:
        now = self._runtime.now()
        while (when := self._next_at()) is not None and when <= now:
            _, key = heapq.heappop(self._moments)
            del self._later[key]
            self._due[key] = None
        while self._due:
            key = next(iter(self._due))
            del self._due[key]
            if self._not_before.pop(key, 0.0) <= now:
                return self._look_at(key)
            self._at(key, now + BATCH_SECONDS)
        return None

    async def _look_at(self, key: _Key) -> None:
        number, name = key
        controller, now = self._controllers[number], self._runtime.now()
        self._later.pop(key, None)
        decision = controller.reconcile(name, self._objects, now)
        self._pace(key, decision, now)
        for note in decision.notes:
            self._tell(controller, note, "", "")
        done = all([await self._do(controller, act) for act in decision.acts])
        self._at(key, earliest(decision.at, None if done else self._runtime.now() + RETRY_SECONDS))

    def _pace(self, key: _Key, decision: Decision, now: float) -> None:
        if decision.size >= BATCH:
            self._not_before[key] = now + BATCH_SECONDS

    def _at(self, key: _Key, when: float | None) -> None:
        if when is not None and when < self._later.get(key, math.inf):
            self._later[key] = when
            heapq.heappush(self._moments, (when, key))

    async def _do(self, controller: Controller, act: Act) -> bool:
        if self._stopped:
            return False
        reply = await self._api.send(act.write)
        done = reply.ok or (act.write.method == "DELETE" and reply.status == 404)
        self._learn(act.write, reply)
        note = act.done if done else act.refused
        if note is not None:
            self._tell(controller, note, reply.body.get("metadata", {}).get("name", ""), reply.reason)
        return done

    def _learn(self, write: Write, reply: Reply) -> None:
        """Know what was written before the event says so, or the next decision would write it again."""
        resource, key = self._place(write.path)
        if not reply.ok or not resource:
            return
        obj = reply.body
        known = self._objects.get(resource, key)
        if "uid" not in obj.get("metadata", {}) or (write.method == "DELETE" and _is_gone(obj)):
            if known is None or write.method != "DELETE":
                return
            obj = known
            self._objects.deleted(resource, obj)
        else:
            self._objects.put(resource, obj)
        self._touch(resource, obj)

    def _place(self, path: str) -> tuple[str, str]:
        """The resource that a path names, and the key of the object, if it names one; empty for a foreign one."""
        steps = path.split("/")
        at = next((at for at, step in enumerate(steps) if step in self.resources), len(steps))
        resource, name = "".join(steps[at : at + 1]), "".join(steps[at + 1 : at + 2])
        namespace = steps[at - 1] if steps[at - 2] == "namespaces" else ""
        return resource, f"{namespace}/{name}"

    def _tell(self, controller: Controller, note: Note, name: str, why: str) -> None:
        text = note.text.replace("{name}", name).replace("{why}", why)
        self._recorder.record(Source(controller.name), Told(note.about, note.reason, text, note.warning))


def _is_gone(obj: JSON) -> bool:
    """Whether what a deletion answered was the last of the object."""
    metadata = obj["metadata"]
    return not (metadata.get("finalizers") or metadata.get("deletionGracePeriodSeconds"))
