"""The verb Preempt, as a function of the ledger.

Stands for HTTPExtender's ProcessPreemption, and for the choice of the node after it. kube-scheduler names nodes and
whom it would remove there by its own counts; who has to go so that devices fit as well is worked out anew. The answer
is the node where least is lost, alone: what is left to kube-scheduler is not known when it asks for the next pod. A
node for which it must not remove anybody is left out: it takes a node without victims for an error. Where it is
enough that those go who do so already, nothing more is lost: they are named, so that it keeps their place for the
pod. Those that say so make way for nobody.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gpuyard.groups.reservations import Seat
from gpuyard.placing.cluster import Node, Placement
from gpuyard.preempting import preemption
from gpuyard.preempting.preemption import Preemptor
from gpuyard.preempting.stakes import Candidate, Cost, Stakes, Victims, cost
from gpuyard_extender import feasibility
from gpuyard_extender.eviction_candidates import (
    candidate,
    going,
    held,
    nominated,
    placement_of,
    stakes,
    with_nominated,
)
from gpuyard_extender.ledger import Ledger
from gpuyard_extender.pods import Pod

_NOTHING_MORE: Final[Cost] = (-1, 0, 0, (), (), ())
"""Less than anybody's end costs."""


def preempt(pod: Pod, names: Sequence[str], ledger: Ledger, now: float) -> Mapping[str, Victims]:
    """The node where the fewest and least important have to go for the pod, and who they are; empty: nowhere."""
    ledger.expire(now)
    gone = going(pod.priority, {pod.uid}, ledger)
    offers = {name: found for name in names if (found := _offer(pod, name, gone, ledger, now)) is not None}
    if not offers:
        return {}
    name = min(offers, key=lambda name: offers[name][0])
    return {name: offers[name][1]}


def room(pod: Pod, name: str, gone: Collection[str], ledger: Ledger, now: float) -> Placement | None:
    """The pod's place on a node without those that are `gone` (UIDs) or on their way; None: there is none for it."""
    ledger.expire(now)
    ground = _Ground.of(pod, name, {*going(pod.priority, {pod.uid}, ledger), *gone}, ledger, now)
    return ground.place(ground.node) if ground else None


def _offer(
    pod: Pod, name: str, gone: Collection[str], ledger: Ledger, now: float
) -> tuple[Cost, Victims] | None:
    ground = _Ground.of(pod, name, gone, ledger, now)
    if ground is None:
        return None
    if ground.place(ground.node) is not None:
        return _awaited(ground, ledger, now)
    budgets = list(ledger.budgets.all())
    staying = [(other, claim) for other, claim in held(name, ledger) if other.uid not in ground.leaving]
    candidates = [
        candidate(other, placement_of(other.uid, claim), budgets)
        for other, claim in staying
        if not other.spared
    ]
    at_stake = stakes([other for other, _ in staying], ledger)
    victims = preemption.choose(ground.preemptor, ground.node, candidates, at_stake)
    if victims is None:
        return None
    return cost([(found,) for found in candidates if found.placement.uid in victims.uids], at_stake), victims


def _awaited(ground: "_Ground", ledger: Ledger, now: float) -> tuple[Cost, Victims] | None:
    """As few as will do of those that go already: nobody else has to."""
    name, pod = ground.node.name, ground.pod
    leaving = [(other, claim) for other, claim in held(name, ledger) if other.uid in ground.leaving]
    # kube-scheduler removes nobody who is as important, whatever it is told.
    besides = {other.uid for other, _ in leaving if other.priority >= pod.priority}
    node = ledger.node(name, now, {*ledger.yielding([pod]), *besides})
    if node is None:
        return None
    candidates = [Candidate(other.priority, placement_of(other.uid, claim)) for other, claim in leaving]
    victims = preemption.choose(ground.preemptor, node, candidates, Stakes())
    return (_NOTHING_MORE, victims) if victims else None


@dataclass(frozen=True, slots=True)
class _Ground:
    """A node as the pod finds it, without those that are `leaving` (UIDs)."""

    pod: Pod
    node: Node
    leaving: Collection[str]
    made_for: Sequence[Pod]
    seat: Seat | None

    @classmethod
    def of(cls, pod: Pod, name: str, gone: Collection[str], ledger: Ledger, now: float) -> "_Ground | None":
        """None where there is no such node."""
        leaving = {*gone, *(other.uid for other, _ in held(name, ledger) if other.terminating)}
        node = ledger.node(name, now, {*ledger.yielding([pod]), *leaving})
        if node is None:
            return None
        seated, made_for = ledger.seat(pod.uid, now), nominated(name, pod.priority, {pod.uid}, ledger)
        return cls(pod, node, leaving, made_for, seated[1] if seated else None)

    @property
    def preemptor(self) -> Preemptor:
        return Preemptor(self.pod.priority, self.pod.fit.requests, lambda node: self.place(node) is not None)

    def place(self, node: Node) -> Placement | None:
        """Where the pod goes on the node in this state; without a seat nowhere where it needs one."""
        verdict = feasibility.judge(self.pod, with_nominated(node, self.made_for), self.seat)
        return verdict if isinstance(verdict, Placement) else None
