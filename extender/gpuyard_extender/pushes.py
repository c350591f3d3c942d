"""Room that kube-scheduler makes for pods, by what the verb Preempt has told it.

Stands for the nominator of kube-scheduler's queue, which an extender cannot ask. Laws: nobody else is evicted for
such a pod; its devices are kept for it from the answer on, against pods that are not more important; and that goes on
when kube-scheduler takes the nomination back because it knew of the victims' end before the extender did.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from gpuyard.groups.plans import PlanRequest, Unready
from gpuyard.placing.cluster import Placement
from gpuyard.preempting.stakes import Victims
from gpuyard_extender import preempt_verb
from gpuyard_extender.claims import Grade
from gpuyard_extender.ledger import Ledger
from gpuyard_extender.pods import Pod
from gpuyard_extender.scheduling import Filtered
from gpuyard_extender.settings import PUSH_SECONDS


@dataclass(frozen=True, slots=True)
class _Push:
    """The victims that were named on each node, until when kube-scheduler is left to remove those of one."""

    victims: Mapping[str, Victims]
    until: float


class Pushes:
    """The pods for which kube-scheduler was told whom to remove, by UID."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._told: dict[str, _Push] = {}

    def note(self, pod: Pod, victims: Mapping[str, Victims], now: float) -> None:
        """Whom to remove for this pod, if anybody: of several nodes kube-scheduler chooses one, and nominates it."""
        if not victims:
            return
        self._told.pop(pod.uid, None)
        self._told = {uid: push for uid, push in self._told.items() if self._matters(uid, push, now)}
        self._told[pod.uid] = _Push(victims, now + PUSH_SECONDS)
        if len(victims) == 1:
            self._keep(pod, next(iter(victims)), Grade.PUSHED, now)

    def look_again(self, now: float) -> None:
        """The ledger has changed: some pod may have been nominated."""
        recent = itertools.takewhile(lambda told: told[1].until > now, reversed(self._told.items()))
        for uid, push in list(recent):
            pod, known = self._ledger.pods.get(uid), self._ledger.assumption(uid, now)
            if pod is None or not pod.pending or pod.nominated not in push.victims:
                continue
            if known is None or known.grade is Grade.PUSHED:
                self._keep(pod, pod.nominated, Grade.NOMINATED, now)

    def filtered(self, pod: Pod, found: Filtered, now: float) -> None:
        """Where it would not fit even without the victims nothing is kept any longer."""
        known = self._ledger.assumption(pod.uid, now)
        if known is None or not known.grade.is_expected or pod.uid not in self._told:
            return
        node = known.placement.node
        refused = any(node in names for names in found.rejected.values())
        if refused and self._place(pod, node, now) is None:
            self._ledger.forget(pod.uid, known.grade)

    def under_way(self, request: PlanRequest, now: float) -> Unready | None:
        """Why nobody is to be evicted for it now: that was so for one of its pods a moment ago."""
        pushes = (self._told.get(uid) for uid in request.members) if request.preempt else ()
        if any(push is not None and push.until > now for push in pushes):
            return Unready("kube-scheduler was told whom to remove for the pod")
        return None

    def _keep(self, pod: Pod, node: str, grade: Grade, now: float) -> None:
        place = self._place(pod, node, now)
        if place is not None:
            self._ledger.assume(place, grade, now)

    def _place(self, pod: Pod, node: str, now: float) -> Placement | None:
        victims = self._told[pod.uid].victims.get(node)
        return preempt_verb.room(pod, node, victims.uids, self._ledger, now) if victims else None

    def _matters(self, uid: str, push: _Push, now: float) -> bool:
        return push.until > now or uid in self._ledger.assumptions.expected
