"""Room that kube-scheduler makes for pods, by what the verb Preempt has told it.

Stands for the nominator of kube-scheduler's queue, which an extender cannot ask. Laws: nobody else is evicted for
such a pod; its devices are kept for it, against pods that are not more important, from the answer on where that named
one node, else from when it is seen which one kube-scheduler has chosen; and that goes on when the nomination is taken
back because kube-scheduler knew of the victims' end before the extender did.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from gpuyard.groups.plans import PlanRequest, Unready
from gpuyard.placing.cluster import Placement
from gpuyard.preempting.stakes import Victims
from gpuyard_extender import preempt_verb
from gpuyard_extender.evicting import MOST_SECONDS
from gpuyard_extender.expectations import Expectation
from gpuyard_extender.ledger import Ledger
from gpuyard_extender.pods import Pod
from gpuyard_extender.scheduling import Filtered
from gpuyard_extender.settings import NOMINATED_SECONDS, PUSH_SECONDS
from gpuyard_kube.runtime import Runtime


@dataclass(slots=True)
class _Push:
    """The victims that were named on each node, and until when kube-scheduler is left to remove those of one.

    `first`: when some were named first, without any that went since. `looked`: the node for which room was looked for
    last, and the ledger's count of changes then.
    """

    victims: Mapping[str, Victims]
    until: float
    first: float
    looked: tuple[str, int] = ("", 0)


class Pushes:
    """The pods for which kube-scheduler was told whom to remove, by UID."""

    def __init__(self, ledger: Ledger, runtime: Runtime) -> None:
        self._ledger, self._runtime = ledger, runtime
        self._told: dict[str, _Push] = {}

    def note(self, pod: Pod, victims: Mapping[str, Victims]) -> None:
        """Whom to remove for this pod, if anybody: of several nodes kube-scheduler chooses one, and nominates it."""
        if not victims:
            return
        before, now = self._told.pop(pod.uid, None), self._runtime.steady()
        self._told = {uid: push for uid, push in self._told.items() if self._matters(uid, push, now)}
        # Asked again and again, kube-scheduler does not do it: the room is not to be idle for ever.
        first = before.first if before is not None and before.until > now else now
        self._told[pod.uid] = _Push(victims, now + PUSH_SECONDS, first)
        known = self._ledger.expectations.get(pod.uid)
        if known is not None and known.placement.node not in victims:
            self._give_up(pod.uid)
        if len(victims) == 1 and now < first + PUSH_SECONDS:
            self._keep(pod, next(iter(victims)), first + PUSH_SECONDS)

    def look_again(self) -> None:
        """The ledger has changed: it may be known by now which node was chosen for a pod."""
        now = self._runtime.steady()
        recent = itertools.takewhile(lambda told: told[1].until > now, reversed(self._told.items()))
        for uid, push in list(recent):
            pod, known = self._ledger.pods.get(uid), self._ledger.expectations.get(uid)
            node = self._chosen(pod, push) if pod is not None and pod.pending else ""
            kept = known is not None and known.placement.node == node and known.chosen
            if pod is not None and node and not kept and self._is_news(push, node):
                longest = max(map(self._grace_seconds, push.victims[node].uids), default=0)
                self._keep(pod, node, now + longest + NOMINATED_SECONDS, chosen=True)

    def filtered(self, pod: Pod, found: Filtered) -> None:
        """Where it would not fit even without the victims nothing is kept any longer."""
        known = self._ledger.expectations.get(pod.uid)
        if known is None or pod.uid not in self._told:
            return
        node = known.placement.node
        refused = any(node in names for names in found.rejected.values())
        if refused and self._place(pod, node) is None:
            self._give_up(pod.uid)

    def under_way(self, request: PlanRequest) -> Unready | None:
        """Why nobody is to be evicted for it now: that was so for one of its pods a moment ago."""
        now = self._runtime.steady()
        pushes = (self._told.get(uid) for uid in request.members) if request.preempt else ()
        if any(push is not None and push.until > now for push in pushes):
            return Unready("kube-scheduler was told whom to remove for the pod")
        return None

    def _chosen(self, pod: Pod, push: _Push) -> str:
        """The node that the pod is nominated for, or where victims are going already; empty where nobody knows."""
        if pod.nominated in push.victims:
            return pod.nominated
        going = (name for name, victims in push.victims.items() if any(map(self._is_leaving, victims.uids)))
        return next(going, "")

    def _is_leaving(self, uid: str) -> bool:
        pod = self._ledger.pods.get(uid)
        return pod.terminating if pod is not None else self._ledger.pods.deleted(uid)

    def _grace_seconds(self, uid: str) -> int:
        pod = self._ledger.pods.get(uid)
        return min(pod.grace_seconds, MOST_SECONDS) if pod is not None else 0

    def _is_news(self, push: _Push, node: str) -> bool:
        """Whether something has changed since room was looked for there."""
        (before, change), holdings = push.looked, self._ledger.holdings
        push.looked = node, holdings.changes
        return before != node or node in holdings.changed_since(change)

    def _keep(self, pod: Pod, node: str, until: float, *, chosen: bool = False) -> None:
        known, place = self._ledger.pods.get(pod.uid), self._place(pod, node)
        if place is not None and (known is None or known.pending):
            self._ledger.expectations.put(Expectation(place, pod.priority, until, chosen))
            self._ledger.settle(pod.uid)

    def _give_up(self, uid: str) -> None:
        self._ledger.expectations.drop(uid)
        self._ledger.settle(uid)

    def _place(self, pod: Pod, node: str) -> Placement | None:
        victims, now = self._told[pod.uid].victims.get(node), self._runtime.now()
        return preempt_verb.room(pod, node, victims.uids, self._ledger, now) if victims else None

    def _matters(self, uid: str, push: _Push, now: float) -> bool:
        return push.until > now or self._ledger.expectations.get(uid) is not None
