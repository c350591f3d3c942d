"""The verb Bind, decided: what to answer to kube-scheduler, from the newest state.

Stands for the binding cycle (Permit, PreBind, Bind). Laws:
- it binds only what its own Filter would pass now;
- asked twice about one pod it gives one answer;
- of a gang nobody is bound before `needed` members are bound or stand here;
- then one goes ahead: if its Binding is refused, nobody was bound.
"""

from collections.abc import Collection
from dataclasses import dataclass

from gpuyard import annotations, vocabulary
from gpuyard.groups.reservations import Reservation, Seat
from gpuyard.placing.cluster import Placement
from gpuyard.verdicts import Reason, Rejection
from gpuyard.writes import JSON, Write
from gpuyard_extender import settings
from gpuyard_extender.deciding import feasibility
from gpuyard_extender.ledger.claims import Grade
from gpuyard_extender.ledger.ledger import Ledger
from gpuyard_extender.ledger.pods import Pod


@dataclass(frozen=True, slots=True)
class BindRequest:
    """kube-scheduler wants this pod on this node."""

    namespace: str
    name: str
    uid: str
    node: str

    @property
    def path(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}/pods/{self.name}"


@dataclass(frozen=True, slots=True)
class Commit:
    """Send `write`, the Binding of `placement`."""

    write: Write
    placement: Placement


@dataclass(frozen=True, slots=True)
class Bound:
    """It is on that node already."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Not now; kube-scheduler tries again from the start."""

    text: str


@dataclass(frozen=True, slots=True)
class Held:
    """Wait for the gang, at most until that moment (seconds since the epoch)."""

    until: float


Answer = Commit | Bound | Refused | Held


@dataclass(frozen=True, slots=True)
class Gate:
    """Who of the gang stands at the barrier (UIDs), and since when: now, where nobody does."""

    held: Collection[str]
    began: float


def decide(request: BindRequest, ledger: Ledger, gate: Gate, now: float) -> Answer:
    """What is to be done about one Bind."""
    pod = ledger.pods.get(request.uid)
    if pod is None or (pod.namespace, pod.name) != (request.namespace, request.name):
        return Refused("the extender does not know the pod: it is gone or not seen yet")
    settled = _settled(pod, request, ledger, now)
    if settled is not None:
        return settled
    seated = ledger.seat(pod.uid, now)
    verdict = _judge(pod, request.node, seated[1] if seated else None, ledger, now)
    if isinstance(verdict, Rejection):
        return Refused(verdict.reason.text)
    if (
        seated is not None
        and feasibility.needs_seat(pod)
        and not _may_go(pod.uid, seated[0], ledger, {pod.uid, *gate.held})
    ):
        until = gate.began + _patience(seated[0], ledger, {pod.uid, *gate.held})
        return Held(until) if now < until else Refused(Reason.GANG_WAITING.text)
    return Commit(binding(request, verdict), verdict)


def binding(request: BindRequest, placement: Placement) -> Write:
    """The Binding that puts the plan on the pod in the same update as the node."""
    metadata: JSON = {"name": request.name, "namespace": request.namespace, "uid": request.uid}
    if placement.allocation:
        plan = annotations.write_allocation(placement.allocation)
        metadata["annotations"] = {vocabulary.ALLOCATION: plan}
    target = {"apiVersion": "v1", "kind": "Node", "name": request.node}
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": target}
    return Write("POST", f"{request.path}/binding", body)


def _settled(pod: Pod, request: BindRequest, ledger: Ledger, now: float) -> Bound | Refused | None:
    """The answer where the pod's fate is known already."""
    assumption = ledger.assumption(pod.uid, now)
    taken = assumption is not None and assumption.grade is Grade.BOUND
    node = pod.node or (assumption.placement.node if assumption is not None and taken else "")
    if node:
        return Bound() if node == request.node else Refused("the pod is bound to another node")
    return None if pod.pending else Refused("the pod is ending")


def _judge(pod: Pod, name: str, seat: Seat | None, ledger: Ledger, now: float) -> Placement | Rejection:
    node = ledger.node(name, now, ledger.yielding([pod]))
    if node is None:
        return Rejection(name, Reason.NODE_NOT_READY, "the extender has not seen the node")
    verdict, assumption = feasibility.judge(pod, node, seat), ledger.assumption(pod.uid, now)
    if isinstance(verdict, Rejection) or seat is not None or assumption is None:
        return verdict
    # What was assumed since may have chosen its devices to go with these: others would leave smaller holes.
    kept = assumption.placement
    return kept if kept.node == name and feasibility.is_idle(kept, node) else verdict


def complete(reservation: Reservation, ledger: Ledger, held: Collection[str]) -> bool:
    """Whether enough of a gang would be bound with those who are `held` at the barrier (UIDs)."""
    return len(ledger.arrived(reservation).union(held)) >= reservation.needed


def _patience(reservation: Reservation, ledger: Ledger, held: Collection[str]) -> float:
    """How many seconds those who are `held` wait in all, from the arrival of the first of them."""
    arrived = ledger.arrived(reservation)
    first = next((seat.uid for seat in reservation.seats if seat.uid not in arrived), None)
    return settings.BARRIER_SECONDS if first in held else settings.BARRIER_ALONE_SECONDS


def _may_go(uid: str, reservation: Reservation, ledger: Ledger, held: Collection[str]) -> bool:
    """Whether this member of a gang goes through now: the first seat of those here, and all others after it."""
    if not complete(reservation, ledger, held):
        return False
    if reservation.needed <= 1 or ledger.bound(reservation):
        return True
    first = next(seat.uid for seat in reservation.seats if seat.uid in held)
    return uid == first and not ledger.arrived(reservation)
