"""The verb Preempt, as a function of the ledger.

Stands for HTTPExtender's ProcessPreemption, and for the choice of the node after it. kube-scheduler names nodes and
whom it would remove there; who of them are in the way of something beside amounts has to go, and who else, so that
devices fit as well, is worked out anew. The answer
is the node where least is lost, alone: what is left to kube-scheduler is not known when it asks for the next pod. A
node for which it must not remove anybody is left out: it takes a node without victims for an error. Where it is
enough that those go who do so already, nothing more is lost: they are named, so that it keeps their place for the
pod. Those that say so make way for nobody.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gpuyard.groups.reservations import Seat
from gpuyard.placing.cluster import Node, Placement
from gpuyard.preempting import preemption
from gpuyard.preempting.preemption import Preemptor
from gpuyard.preempting.stakes import Candidate, Cost, Stakes, Victims, cost
from gpuyard_extender.deciding import feasibility, named_victims
from gpuyard_extender.deciding.eviction_candidates import (
    candidate,
    going,
    held,
    lost_before,
    nominated,
    placement_of,
    stakes,
    with_nominated,
)
from gpuyard_extender.deciding.named_victims import Given, Victim
from gpuyard_extender.ledger.budgets import Budget
from gpuyard_extender.ledger.ledger import Ledger
from gpuyard_extender.ledger.pods import Pod

_NOTHING_MORE: Final[Cost] = (-1, 0, 0, (), (), ())
"""Less than anybody's end costs."""
_Offer = tuple[Cost, Victims]


def preempt(pod: Pod, named: Mapping[str, Given], ledger: Ledger, now: float) -> Mapping[str, Victims]:
    """The node where the fewest and least important have to go for the pod, and who they are; empty: nowhere.

    Of those nodes for which kube-scheduler `named` whom it would remove.
    """
    ledger.expire(now)
    gone = going(pod.priority, {pod.uid}, ledger)
    losses = _Losses(lost_before({pod.uid}, ledger), list(ledger.budgets.all()))
    offers = dict[str, _Offer]()
    for name, given in named.items():
        ground = _Ground.of(pod, name, gone, ledger, now)
        if ground is not None and (found := _offer(ground, given, losses, ledger, now)) is not None:
            offers[name] = found
    if not offers:
        return {}
    name = min(offers, key=lambda name: offers[name][0])
    return {name: offers[name][1]}


def room(pod: Pod, name: str, gone: Collection[str], ledger: Ledger, now: float) -> Placement | None:
    """The pod's place on a node without those that are `gone` (UIDs) or on their way; None: there is none for it."""
    ledger.expire(now)
    ground = _Ground.of(pod, name, {*going(pod.priority, {pod.uid}, ledger), *gone}, ledger, now)
    return ground.place(ground.node) if ground else None


@dataclass(frozen=True, slots=True)
class _Losses:
    """The budgets of the whole cluster, and what of them is lost `before` anybody goes for this pod."""

    before: Stakes
    budgets: Sequence[Budget]

    def candidate(self, found: Victim, pod: Pod) -> Candidate:
        """One whom nobody knows counts as much as one may that goes for the pod."""
        if found.pod is None:
            return Candidate(pod.priority - 1, found.placement)
        return candidate(found.pod, found.placement, self.budgets)


def _offer(ground: "_Ground", given: Given, losses: _Losses, ledger: Ledger, now: float) -> _Offer | None:
    must = ground.must_go(given, ledger, now)
    more = [found for found in must if found.placement.uid not in ground.leaving]
    if not all(found.goes_for(ground.pod) for found in more):
        return None
    awaited = tuple(it.placement.uid for it in must if it not in more and it.is_below(ground.pod))
    node = ground.node.releasing(*(found.placement for found in more))
    if not more and ground.place(node) is not None:
        return (_NOTHING_MORE, Victims(awaited, 0)) if awaited else _awaited(ground, ledger, now)
    besides = [losses.candidate(found, ground.pod) for found in more]
    apart = {*ground.leaving, *(found.placement.uid for found in more)}
    staying = [
        Victim(other, placement_of(other.uid, claim))
        for other, claim in held(ground.node.name, ledger)
        if other.uid not in apart
    ]
    candidates = [losses.candidate(it, ground.pod) for it in staying if it.goes_for(ground.pod)]
    at_stake = stakes([it.pod for it in (*staying, *more) if it.pod], losses.before, ledger)
    victims = preemption.choose(ground.preemptor, node, candidates, at_stake, besides)
    if victims is None:
        return None
    gone = [(found,) for found in (*candidates, *besides) if found.placement.uid in victims.uids]
    return cost(gone, at_stake), replace(victims, uids=(*victims.uids, *awaited))


def _awaited(ground: "_Ground", ledger: Ledger, now: float) -> _Offer | None:
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

    def must_go(self, given: Given, ledger: Ledger, now: float) -> list[Victim]:
        """Those of whom kube-scheduler named who are in the way of more than amounts, as it sees the node: full."""
        node = ledger.node(self.node.name, now, ledger.yielding([self.pod])) if given else None
        return named_victims.must_go(self.pod, node, given, self.made_for, ledger) if node else []

    @property
    def preemptor(self) -> Preemptor:
        return Preemptor(self.pod.priority, self.pod.fit.requests, lambda node: self.place(node) is not None)

    def place(self, node: Node) -> Placement | None:
        """Where the pod goes on the node in this state; without a seat nowhere where it needs one."""
        verdict = feasibility.judge(self.pod, with_nominated(node, self.made_for), self.seat)
        return verdict if isinstance(verdict, Placement) else None
