"""The question and the answer when a gang is planned: operator asks, extender answers.

Both travel as JSON: `POST /v1/plans` of the extender. Law: whoever reads one passes over unknown fields.
So an extender is renewed before the operator that asks it for more: an older one would place without regard to that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpuyard.groups import nearness, reservations
from gpuyard.groups.nearness import Nearness
from gpuyard.groups.reservations import Reservation
from gpuyard.verdicts import Reason, Rejection
from gpuyard.writes import JSON

MOST_NEEDED = 2**31 - 1
"""minMember is an int32."""


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """Where can these members of one PodGroup start together? `needed` of the group must be bound together."""

    namespace: str
    group: str
    needed: int
    members: tuple[str, ...]
    """UIDs of the pods to place, in the order in which they are to be placed."""
    preempt: bool = False
    """Whether pods of lower priority may have to go for it; the reservation then names them."""
    nearness: Nearness | None = None


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
        **({"preempt": True} if request.preempt else {}),
        **({"annotations": request.nearness.annotations} if request.nearness else {}),
    }


def request_from_json(body: Any) -> PlanRequest:
    """ValueError names the field that is missing or wrong."""
    if not isinstance(body, Mapping):
        raise ValueError("the request must be a JSON object with namespace, podGroup, needed and members")
    namespace, group = (_name(body.get(field), field) for field in ("namespace", "podGroup"))
    needed, members, preempt = body.get("needed"), body.get("members"), body.get("preempt", False)
    if not isinstance(members, list) or not members or not all(isinstance(uid, str) for uid in members):
        raise ValueError("members: a list of pod UIDs is needed, with one at least")
    if len(set(members)) < len(members):
        raise ValueError("members: each pod may be named once only")
    if isinstance(needed, bool) or not isinstance(needed, int) or not 1 <= needed <= MOST_NEEDED:
        raise ValueError(f"needed: a whole number from 1 to {MOST_NEEDED} is needed, not {needed!r:.40}")
    if not isinstance(preempt, bool):
        raise ValueError(f"preempt: true or false is needed, not {preempt!r:.40}")
    wish = nearness.parse(_annotations(body.get("annotations", {})))
    return PlanRequest(namespace, group, needed, tuple(members), preempt, wish)


def _annotations(found: Any) -> Mapping[str, Any]:
    if not isinstance(found, Mapping):
        raise ValueError(f"annotations: those of the PodGroup are needed, not {found!r:.40}")
    return found


def _name(found: Any, field: str) -> str:
    if not isinstance(found, str) or not found:
        raise ValueError(f"{field}: a name is needed, not {found!r:.40}")
    return found


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
