"""Reservations: the recorded verdict that a gang may start, and where.

One Reservation object holds the members that were planned in one call. The operator alone writes it; the extender
and the operator read it. It expires, so that a dead operator never holds GPUs for ever. Whoever has to leave first is
recorded with it, before anybody is evicted: so whoever reads it goes on where another one died.
"""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gpuyard import vocabulary
from gpuyard.annotations import Allocation
from gpuyard.pods import memberships
from gpuyard.writes import JSON

PLURAL: Final = "reservations"
PATH: Final = f"/apis/{vocabulary.GROUP}/{vocabulary.VERSION}/{PLURAL}"
"""Those of all namespaces."""


@dataclass(frozen=True, slots=True)
class Seat:
    """The place of one member: pod `name` with `uid` goes to `node` and gets the devices of `allocation`."""

    uid: str
    name: str
    node: str
    allocation: Allocation


@dataclass(frozen=True, slots=True)
class Victim:
    """A pod that has to be gone before the seats can be used; `group` is its PodGroup, if any."""

    uid: str
    namespace: str
    name: str
    group: str = ""


@dataclass(frozen=True, slots=True)
class Reservation:
    """The seats of one PodGroup's members, until `expires` (seconds since the epoch).

    `needed` is how many members must be bound together: minMember of the group when it was planned. A pod without a
    group is a group of one (`memberships.alone`).
    """

    namespace: str
    group: str
    needed: int
    expires: float
    seats: tuple[Seat, ...]
    victims: tuple[Victim, ...] = ()


def path(namespace: str, name: str = "") -> str:
    """The API path of the reservations of a namespace, or of one."""
    base = f"/apis/{vocabulary.GROUP}/{vocabulary.VERSION}/namespaces/{namespace}/{PLURAL}"
    return f"{base}/{name}" if name else base


def to_object(reservation: Reservation, group_uid: str) -> JSON:
    """The API object; named after its PodGroup, which owns it. That of a pod alone is owned by the pod."""
    seat = reservation.seats[0] if reservation.seats else None
    if seat is not None and reservation.group == memberships.alone(seat.uid):
        owner = {"apiVersion": "v1", "kind": "Pod", "name": seat.name, "uid": seat.uid}
    else:
        api, name = vocabulary.POD_GROUP_API, reservation.group
        owner = {"apiVersion": api, "kind": "PodGroup", "name": name, "uid": group_uid}
    return {
        "apiVersion": f"{vocabulary.GROUP}/{vocabulary.VERSION}",
        "kind": "Reservation",
        "metadata": {
            "name": reservation.group,
            "namespace": reservation.namespace,
            "ownerReferences": [owner],
        },
        "spec": to_spec(reservation),
    }


def to_spec(reservation: Reservation) -> JSON:
    """The spec, as it is in the API object and in the extender's answer to a plan."""
    expires = datetime.datetime.fromtimestamp(reservation.expires, datetime.UTC)
    return {
        "podGroup": reservation.group,
        "needed": reservation.needed,
        "expires": expires.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "seats": [
            {
                "uid": seat.uid,
                "pod": seat.name,
                "node": seat.node,
                "containers": {
                    name: {resource: list(ids) for resource, ids in held.items()}
                    for name, held in seat.allocation.items()
                },
            }
            for seat in reservation.seats
        ],
        **(
            {"victims": [_from_victim(found) for found in reservation.victims]} if reservation.victims else {}
        ),
    }


def holds_places(obj: JSON) -> bool:
    """Whether it is more than a record of what became of its group, which is its status."""
    return (obj.get("spec") or {}).get("seats") != []


def from_object(obj: JSON) -> Reservation | None:
    """The reservation in an API object; None when its content cannot be used."""
    try:
        return from_spec(str(obj["metadata"]["namespace"]), obj["spec"])
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return None


def from_spec(namespace: str, spec: Mapping[str, Any]) -> Reservation:
    """The reservation in a spec. KeyError, TypeError, ValueError, AttributeError or OverflowError when malformed."""
    return Reservation(
        namespace=namespace,
        group=str(spec["podGroup"]),
        needed=int(spec["needed"]),
        expires=datetime.datetime.fromisoformat(spec["expires"]).timestamp(),
        seats=tuple(_seat(found) for found in spec["seats"]),
        victims=tuple(_victim(found) for found in spec.get("victims", ())),
    )


def _seat(found: Mapping[str, Any]) -> Seat:
    allocation = {
        str(name): {str(resource): tuple(map(str, ids)) for resource, ids in held.items()}
        for name, held in found.get("containers", {}).items()
    }
    return Seat(str(found["uid"]), str(found["pod"]), str(found["node"]), allocation)


def _victim(found: Mapping[str, Any]) -> Victim:
    group = str(found.get("podGroup", ""))
    return Victim(str(found["uid"]), str(found["namespace"]), str(found["pod"]), group)


def _from_victim(victim: Victim) -> JSON:
    group = {"podGroup": victim.group} if victim.group else {}
    return {"uid": victim.uid, "namespace": victim.namespace, "pod": victim.name, **group}
