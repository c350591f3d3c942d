"""The verb Preempt, as a function of the ledger.

Stands for HTTPExtender's ProcessPreemption. kube-scheduler names nodes and whom it would remove there by its own
counts; who has to go so that devices fit as well is worked out anew. A node for which it must not remove anybody is
left out: it takes a node without victims for an error. Pods that are on their way out need no push, and those that
say so make way for nobody.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from gpuyard.placing.cluster import Node, Placement
from gpuyard.preempting import preemption
from gpuyard.preempting.preemption import Preemptor
from gpuyard.preempting.stakes import Candidate, Gang, Stakes, Victims
from gpuyard_extender import feasibility
from gpuyard_extender.claims import Claim
from gpuyard_extender.ledger import Ledger
from gpuyard_extender.pods import Pod
from gpuyard_kube.timestamps import seconds

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

    def under_way(self, uids: Iterable[str], now: float) -> bool:
        """Whether that was so for one of them a moment ago."""
        return any(self._until.get(uid, now) > now for uid in uids)


def preempt(pod: Pod, names: Sequence[str], ledger: Ledger, now: float) -> dict[str, Victims]:
    """The victims on each node where the pod can go once they are gone."""
    made_for = nominated(pod.priority, {pod.uid}, ledger)
    found = {name: _on_node(pod, name, made_for.get(name, ()), ledger, now) for name in names}
    return {name: victims for name, victims in found.items() if victims}


def _on_node(pod: Pod, name: str, made_for: Sequence[Pod], ledger: Ledger, now: float) -> Victims | None:
    seated, node = ledger.seat(pod.uid, now), ledger.node(name, now, {pod.uid})
    if node is None:
        return None
    there = list(held(name, ledger))
    for other, placement in there:
        if other.terminating:
            node = node.releasing(placement)
    # A seat, or none where it needs one: victims do not change that.
    seat = seated[1] if seated else None

    def fits(without: Node) -> bool:
        return isinstance(feasibility.judge(pod, with_nominated(without, made_for), seat), Placement)

    staying = [(other, placement) for other, placement in there if not other.terminating]
    candidates = [candidate(other, placed, ledger) for other, placed in staying if not other.spared]
    preemptor = Preemptor(pod.priority, pod.fit.requests, fits)
    return preemption.choose(preemptor, node, candidates, stakes([other for other, _ in staying], ledger))


def held(name: str, ledger: Ledger) -> Iterator[tuple[Pod, Placement]]:
    """The pods that are bound to the node, with what they take there."""
    for uid, claim in ledger.holdings.claims(name).items():
        pod = ledger.pods.get(uid)
        if pod is not None and pod.node == name:
            yield pod, placement_of(uid, claim)


def placement_of(uid: str, claim: Claim) -> Placement:
    """Which container and which resource a device is for is of no interest here."""
    devices = tuple(sorted(claim.held | claim.promised))
    return Placement(uid, claim.node, {"": {"": devices}}, claim.booked, claim.limits)


def candidate(pod: Pod, placement: Placement, ledger: Ledger) -> Candidate:
    """The pod as one who may have to go."""
    budgets = frozenset(found.key for found in ledger.budgets.all() if found.covers(pod))
    # One that does not say when it was started is the oldest.
    return Candidate(pod.priority, placement, gang_of(pod), budgets, seconds(pod.started) or 0.0)


def stakes(pods: Sequence[Pod], ledger: Ledger) -> Stakes:
    """What else is lost with these pods."""
    gangs = {}
    for pod in pods:
        group = ledger.groups.named(pod.namespace, pod.group) if pod.group else None
        if group is not None:
            bound = sum(bool(member.node) for member in ledger.members(pod.namespace, group.name))
            gangs[gang_of(pod)] = Gang(bound, group.needed)
    return Stakes(gangs, {found.key: found.allowed for found in ledger.budgets.all()})


def gang_of(pod: Pod) -> str:
    """Its gang in the whole cluster; empty for a pod alone."""
    return f"{pod.namespace}/{pod.group}" if pod.group else ""


def nominated(priority: int, besides: Collection[str], ledger: Ledger) -> Mapping[str, list[Pod]]:
    """By node: pods for which place was made there already, and that one of this priority must not pass over."""
    found: dict[str, list[Pod]] = {}
    for other in ledger.pods.all():
        if other.nominated and other.pending and other.priority >= priority and other.uid not in besides:
            found.setdefault(other.nominated, []).append(other)
    return found


def with_nominated(node: Node, pods: Sequence[Pod]) -> Node:
    """The node with those of them on it that fit."""
    for pod in pods:
        verdict = feasibility.judge(pod, node, None)
        if isinstance(verdict, Placement):
            node = node.taking(verdict)
    return node
