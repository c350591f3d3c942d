"""An event on a pod that no node takes, when the reason code is another one than before.

Stands for the FailedScheduling event, with our reason code as its reason. Laws: the active extender writes it, and
nobody else; written is a change of the code and nothing else (the API server is not told the same twice, not even by
an extender that has just started: the name of the event says pod and code); a verb never waits for it.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gpuyard import vocabulary
from gpuyard.advice import explain
from gpuyard.verdicts import Reason, Rejection
from gpuyard.writes import JSON, PatchType, Write
from gpuyard_extender.ledger.pods import Pod
from gpuyard_kube.api import Api
from gpuyard_kube.recording import Source, Told, event
from gpuyard_kube.runtime import Runtime

PAUSE_SECONDS: Final = 0.05
"""Between two writes: with those that wake pods not more than 50 a second."""
_MOST: Final = 10_000
"""Pods whose code is remembered."""


@dataclass(frozen=True, slots=True)
class _Change:
    pod: Pod
    code: Reason
    text: str
    again: bool
    """Whether this process has told of another code of the pod meanwhile."""


class Events:
    """The events of one extender."""

    def __init__(self, api: Api, runtime: Runtime) -> None:
        self._api, self._runtime = api, runtime
        self._told: dict[str, Reason] = {}
        self._due: dict[str, _Change] = {}
        self._busy = False

    def rejected(self, pod: Pod, found: Mapping[Reason, Sequence[str]]) -> None:
        """No node took the pod; these are the nodes that were asked about, by reason."""
        code = explain.closest(found)
        if not found or self._told.get(pod.uid) is code:
            return
        counts = ", ".join(f"{len(found[reason])} × {reason}" for reason in sorted(found))
        text = f"no node that was asked about takes the pod: {counts}; {code.change}"
        if isinstance(pod.request, Rejection):
            text = f"{pod.request.detail}; {code.change}"
        self._due[pod.uid] = _Change(pod, code, text, pod.uid in self._told)
        self._told.pop(pod.uid, None)
        self._told[pod.uid] = code
        if len(self._told) > _MOST:
            del self._told[next(iter(self._told))]
        if not self._busy:
            self._busy = True
            self._runtime.spawn(self._write_all(), "events")

    async def _write_all(self) -> None:
        try:
            while self._due:
                await self._write(self._due.pop(next(iter(self._due))))
                await self._runtime.sleep_until(self._runtime.now() + PAUSE_SECONDS)
        finally:
            self._busy = False

    async def _write(self, change: _Change) -> None:
        write = _event(change, self._runtime.now())
        reply = await self._api.send(write)
        if reply.status == 409 and change.again:
            await self._api.send(_renewed(write))
        elif not reply.ok and reply.status != 409:
            # Best effort, as all events; the next rejection tries again.
            self._told.pop(change.pod.uid, None)


def _event(change: _Change, now: float) -> Write:
    pod = change.pod
    metadata = {"namespace": pod.namespace, "name": pod.name, "uid": pod.uid}
    about: JSON = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}
    mark = hashlib.sha256(f"{pod.uid} {change.code}".encode()).hexdigest()[:16]
    told = Told(about, change.code.value, change.text, warning=True)
    return event(Source(vocabulary.EXTENDER), told, f"{pod.name}.{mark}", now)


def _renewed(write: Write) -> Write:
    """The event is there from before the code was another one: it is the last word again."""
    assert isinstance(write.body, dict)
    change = {key: write.body[key] for key in ("message", "lastTimestamp")}
    return Write("PATCH", f"{write.path}/{write.body['metadata']['name']}", change, PatchType.MERGE)
