"""Room that kube-scheduler makes for pods, by what the verb Preempt has told it.

Stands for the nominator of kube-scheduler's queue, which an extender cannot ask. Laws: nobody else is evicted for
such a pod; its devices are kept for it, against pods that are not more important, from the answer on; that goes on
when the nomination is taken back because kube-scheduler knew of the victims' end before the extender did; and a
nomination is enough to know of it, so that it outlives the extender that answered.
"""

import itertools
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from gpuyard.groups.plans import PlanRequest, Unready
from gpuyard.placing.cluster import Placement
from gpuyard.preempting.stakes import Victims
from gpuyard_extender.deciding import feasibility, preempt_verb
from gpuyard_extender.deciding.evicting import MOST_SECONDS
from gpuyard_extender.deciding.eviction_candidates import held
from gpuyard_extender.deciding.scheduling import Filtered
from gpuyard_extender.ledger.expectations import Expectation
from gpuyard_extender.ledger.ledger import Ledger
from gpuyard_extender.ledger.pods import Pod
from gpuyard_extender.settings import NOMINATED_SECONDS, PUSH_SECONDS
from gpuyard_kube.runtime import Runtime


@dataclass(slots=True)
class _Push:
    """Who (UIDs) is to leave `node` for a pod, and until when kube-scheduler is left to remove them.

    `first`: when some were named first, without any that went since. `looked`: the ledger's count of changes when
    room was looked for last. `version`: of the pod that this was said of; `earlier`: the nodes that were said before,
    of which a nomination may still be seen.
    """

    node: str
    victims: frozenset[str]
    until: float
    first: float
    version: int
    earlier: frozenset[str]
    looked: int = -1

    def is_newer(self, pod: Pod) -> bool:
        """Than the pod's nomination, as it was seen afterwards."""
        return 0 < pod.version <= self.version or pod.nominated in self.earlier


class Pushes:
    """The pods for which kube-scheduler was told whom to remove, by UID."""

    def __init__(self, ledger: Ledger, runtime: Runtime) -> None:
        self._ledger, self._runtime = ledger, runtime
        self._told: dict[str, _Push] = {}

    def note(self, pod: Pod, offer: Mapping[str, Victims]) -> None:
        """Whom to remove for this pod, if anybody, and where: on one node."""
        for node, victims in offer.items():
            now = self._runtime.steady()
            push = self._begin(pod, node, frozenset(victims.uids), now)
            if now < push.first + PUSH_SECONDS:
                self._keep(pod, push.first + PUSH_SECONDS)

    def is_coming(self, pod: Pod, names: Collection[str]) -> bool:
        """Whether the pod has only to wait for its room, though it is asked whom to remove on the nodes `names`.

        kube-scheduler asks when it sees more of a node's end than the extender, or counts where shapes decide.
        """
        self._ledger.expire(self._runtime.now())
        push = self._told.get(pod.uid)
        if push is None or self._ledger.expectations.get(pod.uid) is None:
            return False
        is_done = push.node not in names or all(map(self._is_leaving, push.victims))
        return is_done and self._place(pod) is not None

    def look_again(self) -> None:
        """The ledger has changed: kube-scheduler may have done by now what it was told."""
        now = self._runtime.steady()
        self._learn(now)
        recent = itertools.takewhile(lambda told: told[1].until > now, reversed(self._told.items()))
        for uid, push in list(recent):
            pod, known = self._ledger.pods.get(uid), self._ledger.expectations.get(uid)
            if pod is None or not pod.pending or (known is not None and known.chosen):
                continue
            if self._is_followed(pod, push) and self._is_news(push):
                self._keep(pod, now + self._longest(push) + NOMINATED_SECONDS, chosen=True)

    def filtered(self, pod: Pod, found: Filtered) -> None:
        """Where it would not fit even without the victims nothing is kept any longer."""
        known = self._ledger.expectations.get(pod.uid)
        if known is None or pod.uid not in self._told:
            return
        refused = any(known.placement.node in names for names in found.rejected.values())
        if refused and self._place(pod) is None:
            self._give_up(pod.uid)

    def under_way(self, request: PlanRequest) -> Unready | None:
        """Why nobody is to be evicted for it now: that was so for one of its pods a moment ago."""
        now = self._runtime.steady()
        pushes = (self._told.get(uid) for uid in request.members) if request.preempt else ()
        if any(push is not None and push.until > now for push in pushes):
            return Unready("kube-scheduler was told whom to remove for the pod")
        return None

    def _learn(self, now: float) -> None:
        """Of nominations that others were told of: the extender before this one, or this one before its restart.

        Once each: what they are kept for may never come. And what was said since then counts more.
        """
        for pod in self._ledger.nominated.news():
            self._ledger.expire(self._runtime.now())
            told, claim = self._told.get(pod.uid), self._ledger.holdings.claim(pod.uid)
            is_told = told is not None and self._matters(pod.uid, told, now) and self._is_known(pod, told)
            is_surer = claim is not None and not self._ledger.holdings.is_expected(pod.uid)
            if pod.wants_gpus and not (is_told or is_surer or feasibility.needs_seat(pod)):
                self._begin(pod, pod.nominated, frozenset(), now)

    def _is_known(self, pod: Pod, push: _Push) -> bool:
        """Whether the nomination is what was said, or from before that."""
        if pod.nominated != push.node:
            return push.is_newer(pod)
        push.earlier = frozenset()
        return True

    def _begin(self, pod: Pod, node: str, victims: frozenset[str], now: float) -> _Push:
        uid = pod.uid
        before, known = self._told.pop(uid, None), self._ledger.expectations.get(uid)
        earlier = {*before.earlier, before.node} if before and self._matters(uid, before, now) else set[str]()
        self._told = {other: push for other, push in self._told.items() if self._matters(other, push, now)}
        # Asked again and again, kube-scheduler does not do it: the room is not to be idle for ever.
        first = before.first if before is not None and before.until > now else now
        push = self._told[uid] = _Push(
            node, victims, now + PUSH_SECONDS, first, pod.version, frozenset(earlier - {node})
        )
        if known is not None and known.placement.node != node:
            self._give_up(uid)
        return push

    def _is_followed(self, pod: Pod, push: _Push) -> bool:
        """Whether the pod is nominated for the node, or victims are going already."""
        return pod.nominated == push.node or any(map(self._is_leaving, push.victims))

    def _is_leaving(self, uid: str) -> bool:
        pod = self._ledger.pods.get(uid)
        return pod.terminating if pod is not None else self._ledger.pods.deleted(uid)

    def _longest(self, push: _Push) -> int:
        """So many seconds those may take to end that have to, or do so anyway."""
        there = (pod for pod, _ in held(push.node, self._ledger))
        found = (pod.grace_seconds for pod in there if pod.terminating or pod.uid in push.victims)
        return min(max(found, default=0), MOST_SECONDS)

    def _is_news(self, push: _Push) -> bool:
        """Whether something has changed since room was looked for there."""
        before, holdings = push.looked, self._ledger.holdings
        push.looked = holdings.changes
        return before < 0 or push.node in holdings.changed_since(before)

    def _keep(self, pod: Pod, until: float, *, chosen: bool = False) -> None:
        known, place = self._ledger.pods.get(pod.uid), self._place(pod)
        if place is not None and (known is None or known.pending):
            victims = self._told[pod.uid].victims
            self._ledger.expectations.put(Expectation(place, pod.priority, until, victims, chosen))
            self._ledger.settle(pod.uid)

    def _give_up(self, uid: str) -> None:
        self._ledger.expectations.drop(uid)
        self._ledger.settle(uid)

    def _place(self, pod: Pod) -> Placement | None:
        push = self._told[pod.uid]
        return preempt_verb.room(pod, push.node, push.victims, self._ledger, self._runtime.now())

    def _matters(self, uid: str, push: _Push, now: float) -> bool:
        return push.until > now or self._ledger.expectations.get(uid) is not None
