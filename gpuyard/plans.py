"""The question and the answer when a gang is planned (contract 4): operator asks, extender answers.

Both travel as JSON: `POST /v1/plans` of the extender.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpuyard import reservations
from gpuyard.reservations import Reservation
from gpuyard.verdicts import Reason, Rejection
from gpuyard.writes import JSON


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """Where can these members of one PodGroup start together? `needed` of the group must be bound together."""

    namespace: str
    group: str
    needed: int
    members: tuple[str, ...]
    """UIDs of the pods to place, in the order in which they are to be placed."""


@dataclass(frozen=True, slots=True)
class Planned:
    """All members fit, as this reservation says; the extender keeps the places until it expires."""

    reservation: Reservation


@dataclass(frozen=True, slots=True)
class Unplaceable:
    """Not all members fit. `member` is the name of the first pod without a feasible node; why, per node."""

    member: str
    rejections: tuple[Rejection, ...]


@dataclass(frozen=True, slots=True)
class Unready:
    """No verdict yet: the extender has not seen these pods, or is not synced. Ask again."""

    detail: str


PlanAnswer = Planned | Unplaceable | Unready


def request_to_json(request: PlanRequest) -> JSON:
    return {
        "namespace": request.namespace,
        "podGroup": request.group,
        "needed": request.needed,
        "members": list(request.members),
    }


def request_from_json(body: Mapping[str, Any]) -> PlanRequest:
    """KeyError, TypeError or ValueError when it is malformed."""
    members = body["members"]
    if not isinstance(members, list) or not all(isinstance(uid, str) for uid in members):
        raise ValueError("members: a list of pod UIDs is needed")
    return PlanRequest(str(body["namespace"]), str(body["podGroup"]), int(body["needed"]), tuple(members))


def answer_to_json(answer: PlanAnswer) -> JSON:
    match answer:
        case Planned(reservation):
            return {
                "planned": {"namespace": reservation.namespace, "spec": reservations.to_spec(reservation)}
            }
        case Unplaceable(member, rejections):
            return {
                "unplaceable": {"member": member, "rejections": [rejection_to_json(r) for r in rejections]}
            }
        case Unready(detail):
            return {"unready": detail}


def answer_from_json(body: Mapping[str, Any]) -> PlanAnswer:
    """KeyError, TypeError or ValueError when it is malformed."""
    if "planned" in body:
        return Planned(reservations.from_spec(body["planned"]["namespace"], body["planned"]["spec"]))
    if "unplaceable" in body:
        found = body["unplaceable"]
        return Unplaceable(str(found["member"]), tuple(rejection_from_json(r) for r in found["rejections"]))
    return Unready(str(body["unready"]))


def rejection_to_json(rejection: Rejection) -> JSON:
    return {"node": rejection.node, "reason": rejection.reason.value, "detail": rejection.detail}


def rejection_from_json(body: Mapping[str, Any]) -> Rejection:
    return Rejection(str(body["node"]), Reason(body["reason"]), str(body.get("detail", "")))
