"""The verb Preempt, as a function of the ledger.

Stands for HTTPExtender's ProcessPreemption. kube-scheduler names nodes and whom it would remove there by its own
counts; who has to go so that devices fit as well is worked out anew. A node for which it must not remove anybody is
left out: it takes a node without victims for an error. Pods that are on their way out need no push.
"""

from collections.abc import Iterator, Mapping, Sequence

from gpuyard import preemption
from gpuyard.cluster import Node, Placement
from gpuyard.preemption import Preemptor
from gpuyard.stakes import Candidate, Gang, Stakes, Victims
from gpuyard_extender import feasibility
from gpuyard_extender.claims import Claim
from gpuyard_extender.ledger import Ledger
from gpuyard_extender.pods import Pod


def preempt(pod: Pod, names: Sequence[str], ledger: Ledger, now: float) -> dict[str, Victims]:
    """The victims on each node where the pod can go once they are gone."""
    nominated = _nominated(pod, ledger)
    found = {name: _on_node(pod, name, nominated.get(name, ()), ledger, now) for name in names}
    return {name: victims for name, victims in found.items() if victims}


def _on_node(pod: Pod, name: str, nominated: Sequence[Pod], ledger: Ledger, now: float) -> Victims | None:
    seated, node = ledger.seat(pod.uid, now), ledger.node(name, now, {pod.uid})
    if node is None:
        return None
    held = list(_held(name, ledger))
    for other, placement in held:
        if other.terminating:
            node = node.releasing(placement)
    # A seat, or none where it needs one: victims do not change that.
    seat = seated[1] if seated else None

    def fits(without: Node) -> bool:
        return isinstance(feasibility.judge(pod, _with(nominated, without), seat), Placement)

    staying = [(other, placement) for other, placement in held if not other.terminating]
    candidates = [_candidate(other, placement, ledger) for other, placement in staying]
    preemptor = Preemptor(pod.priority, pod.fit.requests, fits)
    return preemption.choose(preemptor, node, candidates, _stakes([o for o, _ in staying], ledger))


def _held(name: str, ledger: Ledger) -> Iterator[tuple[Pod, Placement]]:
    """The pods that are bound to the node, with what they take there."""
    for uid, claim in ledger.holdings.claims(name).items():
        pod = ledger.pods.get(uid)
        if pod is not None and pod.node == name:
            yield pod, placement_of(uid, claim)


def placement_of(uid: str, claim: Claim) -> Placement:
    """Which container and which resource a device is for is of no interest here."""
    devices = tuple(sorted(claim.held | claim.promised))
    return Placement(uid, claim.node, {"": {"": devices}}, claim.booked)


def _candidate(pod: Pod, placement: Placement, ledger: Ledger) -> Candidate:
    budgets = frozenset(found.key for found in ledger.budgets.all() if found.covers(pod))
    return Candidate(pod.priority, placement, _gang(pod), budgets)


def _stakes(pods: Sequence[Pod], ledger: Ledger) -> Stakes:
    gangs = {}
    for pod in pods:
        group = ledger.groups.named(pod.namespace, pod.group) if pod.group else None
        if group is not None:
            bound = sum(bool(member.node) for member in ledger.members(pod.namespace, group.name))
            gangs[_gang(pod)] = Gang(bound, group.needed)
    return Stakes(gangs, {found.key: found.allowed for found in ledger.budgets.all()})


def _gang(pod: Pod) -> str:
    return f"{pod.namespace}/{pod.group}" if pod.group else ""


def _nominated(pod: Pod, ledger: Ledger) -> Mapping[str, list[Pod]]:
    """By node: pods for which place was made there already, and that the pod must not pass over."""
    found: dict[str, list[Pod]] = {}
    for other in ledger.pods.all():
        if other.nominated and other.pending and other.priority >= pod.priority and other.uid != pod.uid:
            found.setdefault(other.nominated, []).append(other)
    return found


def _with(nominated: Sequence[Pod], node: Node) -> Node:
    """The node with those of them on it that fit."""
    for pod in nominated:
        verdict = feasibility.judge(pod, node, None)
        if isinstance(verdict, Placement):
            node = node.taking(verdict)
    return node
