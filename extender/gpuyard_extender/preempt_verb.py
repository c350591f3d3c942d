"""The verb Preempt, as a function of the ledger.

Stands for HTTPExtender's ProcessPreemption. kube-scheduler names nodes and whom it would remove there by its own
counts; who has to go so that devices fit as well is worked out anew. A node for which it must not remove anybody is
left out: it takes a node without victims for an error. Pods that are on their way out need no push, and those that
say so make way for nobody.
"""

from collections.abc import Sequence
from typing import Final

from gpuyard.groups.plans import PlanRequest, Unready
from gpuyard.placing.cluster import Node, Placement
from gpuyard.preempting import preemption
from gpuyard.preempting.preemption import Preemptor
from gpuyard.preempting.stakes import Victims
from gpuyard_extender import feasibility
from gpuyard_extender.eviction_candidates import (
    candidate,
    held,
    nominated,
    placement_of,
    stakes,
    with_nominated,
)
from gpuyard_extender.ledger import Ledger
from gpuyard_extender.pods import Pod

PUSH_SECONDS: Final = 5.0
"""How long kube-scheduler, told whom it may remove for a pod, is left to do so."""


class Pushes:
    """The pods for which kube-scheduler was told whom to remove: evicting others for them would cost two."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}

    def note(self, uid: str, now: float) -> None:
        """Victims were named for this pod."""
        self._until = {known: until for known, until in self._until.items() if until > now}
        self._until[uid] = now + PUSH_SECONDS

    def under_way(self, request: PlanRequest, now: float) -> Unready | None:
        """Why nobody is to be evicted for it now: that was so for one of its pods a moment ago."""
        if request.preempt and any(self._until.get(uid, now) > now for uid in request.members):
            return Unready("kube-scheduler was told whom to remove for the pod")
        return None


def preempt(pod: Pod, names: Sequence[str], ledger: Ledger, now: float) -> dict[str, Victims]:
    """The victims on each node where the pod can go once they are gone."""
    made_for = nominated(pod.priority, {pod.uid}, ledger)
    found = {name: _on_node(pod, name, made_for.get(name, ()), ledger, now) for name in names}
    return {name: victims for name, victims in found.items() if victims}


def _on_node(pod: Pod, name: str, made_for: Sequence[Pod], ledger: Ledger, now: float) -> Victims | None:
    seated, node = ledger.seat(pod.uid, now), ledger.node(name, now, {pod.uid})
    if node is None:
        return None
    there = [(other, placement_of(other.uid, claim)) for other, claim in held(name, ledger)]
    for other, placement in there:
        if other.terminating:
            node = node.releasing(placement)
    # A seat, or none where it needs one: victims do not change that.
    seat = seated[1] if seated else None

    def fits(without: Node) -> bool:
        return isinstance(feasibility.judge(pod, with_nominated(without, made_for), seat), Placement)

    staying = [(other, placement) for other, placement in there if not other.terminating]
    budgets = list(ledger.budgets.all())
    candidates = [candidate(other, placed, budgets) for other, placed in staying if not other.spared]
    preemptor = Preemptor(pod.priority, pod.fit.requests, fits)
    return preemption.choose(preemptor, node, candidates, stakes([other for other, _ in staying], ledger))
