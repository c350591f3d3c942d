"""The verb Preempt, as a function of the ledger.

Stands for HTTPExtender's ProcessPreemption. kube-scheduler names nodes and whom it would remove there by its own
counts; who has to go so that devices fit as well is worked out anew. A node for which it must not remove anybody is
left out: it takes a node without victims for an error. Pods that are on their way out need no push, and those that
say so make way for nobody.
"""

from collections.abc import Collection, Sequence

from gpuyard.placing.cluster import Node, Placement
from gpuyard.preempting import preemption
from gpuyard.preempting.preemption import Preemptor
from gpuyard.preempting.stakes import Victims
from gpuyard.verdicts import Rejection
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


def preempt(pod: Pod, names: Sequence[str], ledger: Ledger, now: float) -> dict[str, Victims]:
    """The victims on each node where the pod can go once they are gone."""
    made_for = nominated(pod.priority, {pod.uid}, ledger)
    found = {name: _on_node(pod, name, made_for.get(name, ()), ledger, now) for name in names}
    return {name: victims for name, victims in found.items() if victims}


def room(pod: Pod, name: str, gone: Collection[str], ledger: Ledger, now: float) -> Placement | None:
    """The pod's place on a node without those that are `gone` (UIDs) or on their way; None: there is none for it."""
    leaving = {other.uid for other, _ in held(name, ledger) if other.terminating}
    node = ledger.node(name, now, {*ledger.yielding([pod]), *leaving, *gone})
    made_for = nominated(pod.priority, {pod.uid}, ledger).get(name, ())
    verdict = _judge(pod, with_nominated(node, made_for), ledger, now) if node else None
    return verdict if isinstance(verdict, Placement) else None


def _on_node(pod: Pod, name: str, made_for: Sequence[Pod], ledger: Ledger, now: float) -> Victims | None:
    there = [(other, placement_of(other.uid, claim)) for other, claim in held(name, ledger)]
    leaving = {other.uid for other, _ in there if other.terminating}
    node = ledger.node(name, now, {*ledger.yielding([pod]), *leaving})
    if node is None:
        return None

    def fits(without: Node) -> bool:
        return isinstance(_judge(pod, with_nominated(without, made_for), ledger, now), Placement)

    staying = [(other, placement) for other, placement in there if not other.terminating]
    budgets = list(ledger.budgets.all())
    candidates = [candidate(other, placed, budgets) for other, placed in staying if not other.spared]
    preemptor = Preemptor(pod.priority, pod.fit.requests, fits)
    return preemption.choose(preemptor, node, candidates, stakes([other for other, _ in staying], ledger))


def _judge(pod: Pod, node: Node, ledger: Ledger, now: float) -> Placement | Rejection:
    """A seat, or none where it needs one: victims do not change that."""
    seated = ledger.seat(pod.uid, now)
    return feasibility.judge(pod, node, seated[1] if seated else None)
