"""Reservations: the recorded verdict that a gang may start, and where (contract 4).

One Reservation object holds the members that were planned in one call. The operator alone writes it; the extender
and the operator read it. It expires, so that a dead operator never holds GPUs for ever.
"""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpuyard import vocabulary
from gpuyard.annotations import Allocation
from gpuyard.writes import JSON

PLURAL = "reservations"


@dataclass(frozen=True, slots=True)
class Seat:
    """The place of one member: pod `name` with `uid` goes to `node` and gets the devices of `allocation`."""

    uid: str
    name: str
    node: str
    allocation: Allocation


@dataclass(frozen=True, slots=True)
class Reservation:
    """The seats of one PodGroup's members, until `expires` (seconds since the epoch).

    `needed` is how many members must be bound together: minMember of the group when it was planned.
    """

    namespace: str
    group: str
    needed: int
    expires: float
    seats: tuple[Seat, ...]

    def seat(self, uid: str) -> Seat | None:
        return next((seat for seat in self.seats if seat.uid == uid), None)


def path(namespace: str, name: str = "") -> str:
    """The API path of the reservations of a namespace, or of one."""
    base = f"/apis/{vocabulary.GROUP}/{vocabulary.VERSION}/namespaces/{namespace}/{PLURAL}"
    return f"{base}/{name}" if name else base


def to_object(reservation: Reservation, group_uid: str) -> JSON:
    """The API object; named after its PodGroup, which owns it."""
    owner = {
        "apiVersion": vocabulary.POD_GROUP_API,
        "kind": "PodGroup",
        "name": reservation.group,
        "uid": group_uid,
    }
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
    }


def from_object(obj: JSON) -> Reservation | None:
    """The reservation in an API object; None when its content cannot be used."""
    try:
        return from_spec(str(obj["metadata"]["namespace"]), obj["spec"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def from_spec(namespace: str, spec: Mapping[str, Any]) -> Reservation:
    """The reservation in a spec. KeyError, TypeError, ValueError or AttributeError when it is malformed."""
    return Reservation(
        namespace=namespace,
        group=str(spec["podGroup"]),
        needed=int(spec["needed"]),
        expires=datetime.datetime.fromisoformat(spec["expires"]).timestamp(),
        seats=tuple(_seat(found) for found in spec["seats"]),
    )


def _seat(found: Mapping[str, Any]) -> Seat:
    allocation = {
        str(name): {str(resource): tuple(map(str, ids)) for resource, ids in held.items()}
        for name, held in found.get("containers", {}).items()
    }
    return Seat(str(found["uid"]), str(found["pod"]), str(found["node"]), allocation)
