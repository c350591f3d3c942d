"""Pods that were rejected too early, and how kube-scheduler comes to try them again.

Stands for the queueing hints that an extender cannot give. kube-scheduler retries a rejected pod when it sees a
node or an assigned pod change; when the extender sees that change a moment later than kube-scheduler does, or
changes its mind because something expired, nothing would ever wake the pod. Laws: only a pod that would pass now is
woken, and only when kube-scheduler has not asked by itself; each change is looked at once; a touched pod is no
change; Filter never waits long for a look.
"""

import itertools
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from gpuyard import vocabulary
from gpuyard.placing.cluster import Placement
from gpuyard.writes import PatchType, Write
from gpuyard_extender.deciding import scheduling
from gpuyard_extender.ledger.ledger import Ledger
from gpuyard_extender.ledger.pods import Pod
from gpuyard_extender.reporting.tally import Tally
from gpuyard_kube.api import Api
from gpuyard_kube.runtime import Runtime

PATIENCE_SECONDS = 0.25
"""How long kube-scheduler, which retries within 20 ms of a change, is given to ask by itself: after the change, and
after each of its questions, because the pod may stand in its queue behind others."""
MOST_PATIENCE_SECONDS = 5.0
"""Something else may keep it busy for ever."""
WAKES_AT_ONCE = 5
"""Every wake is a write, and all woken pods may want the same place. With the events not more than 50 a second."""
LOOKS_AT_ONCE = 50
"""Pods that are judged again in one go: a few milliseconds, in which no verb is answered."""
_SETS = 8
"""Sets of nodes that are compared with what is asked about: mostly kube-scheduler offers the same to many pods."""


@dataclass(frozen=True, slots=True)
class _Rejected:
    """A pod that no node passed, the nodes that rejected it, and the ledger's count of changes then."""

    pod: Pod
    names: frozenset[str]
    change: int


class Waker:
    """The rejected pods of one extender."""

    def __init__(
        self, ledger: Ledger, api: Api, runtime: Runtime, tell: Callable[[str], None], tally: Tally
    ) -> None:
        self._ledger = ledger
        self._api = api
        self._runtime = runtime
        self._tell = tell
        self._tally = tally
        self._rejected: dict[str, _Rejected] = {}
        """By UID, in the order of `change`."""
        self._sets = deque[frozenset[str]](maxlen=_SETS)
        self._next: float | None = None
        self._asked = 0.0
        """When kube-scheduler asked last."""

    def filtered(self, pod: Pod, names: Sequence[str], passed: bool) -> None:
        """kube-scheduler has asked about the pod and these nodes, each named once."""
        self._asked = self._runtime.now()
        self._rejected.pop(pod.uid, None)
        if not passed:
            self._rejected[pod.uid] = _Rejected(pod, self._shared(names), self._ledger.holdings.changes)
        self.look_again()

    def look_again(self) -> None:
        """Something may have changed, or may expire: see to it that somebody looks in time."""
        due = self._due()
        if due is not None and (self._next is None or due < self._next):
            self._next = due
            self._runtime.spawn(self._look_at(due), "wake pods")

    def _due(self) -> float | None:
        oldest = next(iter(self._rejected.values()), None)
        if oldest is None:
            return None
        stale = oldest.change < self._ledger.holdings.changes
        return (
            self._runtime.now() + PATIENCE_SECONDS if stale else self._ledger.next_expiry(self._runtime.now())
        )

    async def _look_at(self, due: float) -> None:
        await self._runtime.sleep_until(due)
        while (quiet := self._asked + PATIENCE_SECONDS) > self._runtime.now() < due + MOST_PATIENCE_SECONDS:
            await self._runtime.sleep_until(quiet)
        if self._next != due:
            return
        self._next = None
        self._ledger.expire(self._runtime.now())
        for pod in self._ready():
            self._tell(f"Wake {pod.name}: it was rejected, but fits now")
            self._tally.woken += 1
            await self._api.send(_touch(pod, self._runtime.now()))
        self.look_again()

    def _ready(self) -> list[Pod]:
        """The pods to wake now; those that would be rejected again wait for the next change."""
        ready: list[Pod] = []
        latest = self._ledger.holdings.changes
        stale = itertools.takewhile(lambda found: found.change < latest, self._rejected.values())
        for found in list(itertools.islice(stale, LOOKS_AT_ONCE)):
            uid = found.pod.uid
            known = self._ledger.pods.get(uid)
            del self._rejected[uid]
            if self._ledger.pods.deleted(uid) or (known is not None and not known.pending):
                continue
            self._rejected[uid] = replace(found, change=latest)
            ready += [found.pod] if self._would_pass(found) else []
            if len(ready) == WAKES_AT_ONCE:
                break
        return ready

    def _would_pass(self, found: _Rejected) -> bool:
        names = found.names & self._ledger.holdings.changed_since(found.change)
        verdicts = (
            scheduling.judge(found.pod, name, self._ledger, self._runtime.now()) for name in sorted(names)
        )
        return any(isinstance(verdict, Placement) for verdict in verdicts)

    def _shared(self, names: Sequence[str]) -> frozenset[str]:
        """The set of these names, kept once for all pods that were offered the same: thousands of texts."""
        for known in self._sets:
            if len(known) == len(names) and known.issuperset(names):
                return known
        self._sets.append(frozenset(names))
        return self._sets[-1]


def _touch(pod: Pod, now: float) -> Write:
    body = {"metadata": {"uid": pod.uid, "annotations": {vocabulary.WOKEN: f"{now:.3f}"}}}
    return Write("PATCH", f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}", body, PatchType.MERGE)
