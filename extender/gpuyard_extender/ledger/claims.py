"""What one pod takes from one node, and on whose word.

Stands for the scheduler's assumed pods and NVIDIA-style device accounting at once.
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from gpuyard.annotations import ids
from gpuyard.groups.reservations import Seat
from gpuyard.placing.cluster import Placement
from gpuyard.pods import limits
from gpuyard.pods.fit import Amounts
from gpuyard.pods.limits import Limits
from gpuyard_extender import settings
from gpuyard_extender.ledger.pods import Pod


class Grade(enum.Enum):
    """How sure an assumption is. The value is its life in seconds."""

    TENTATIVE = ("tentative", settings.TENTATIVE_SECONDS)
    """kube-scheduler was told to prefer this node."""
    SENT = ("sent", settings.SENT_SECONDS)
    """The Binding is on its way, or nobody knows what became of it."""
    BOUND = ("bound", settings.SENT_SECONDS)
    """The API server took the Binding; the pod has not been seen with its node yet."""

    @property
    def seconds(self) -> float:
        return self.value[1]


@dataclass(frozen=True, slots=True)
class Assumption:
    """A placement that the API does not show yet, until `expires` (seconds since the epoch)."""

    placement: Placement
    grade: Grade
    expires: float


@dataclass(frozen=True, slots=True)
class Claim:
    """A pod's part of `node`: what it books, the devices that it holds, and those that are promised to it."""

    node: str
    booked: Amounts
    held: frozenset[str]
    promised: frozenset[str]
    limits: Limits = limits.NONE
    """What its share may use of the GPU."""
    yields_above: int | None = None
    """The priority above which pods need not heed it, as kube-scheduler has it with nominations; None: all must."""


class Tenants:
    """The claims on one node by pod UID, and their sum, for which nobody counts hundreds of pods anew."""

    def __init__(self, claims: Mapping[str, Claim] | None = None) -> None:
        self.claims: dict[str, Claim] = {}
        self.booked: dict[str, int] = {}
        self.holders: dict[str, Claim] = {}
        """Those with devices."""
        for uid, claim in (claims or {}).items():
            self.put(uid, claim)

    def put(self, uid: str, claim: Claim) -> None:
        """A pod that claims nothing here yet."""
        self.claims[uid] = claim
        add(self.booked, claim, 1)
        if claim.held or claim.promised:
            self.holders[uid] = claim

    def remove(self, uid: str) -> None:
        add(self.booked, self.claims.pop(uid), -1)
        self.holders.pop(uid, None)


def add(booked: dict[str, int], claim: Claim, times: int) -> None:
    """Book what is claimed, or the other way round; nothing booked is no entry."""
    for resource, amount in claim.booked.items():
        booked[resource] = booked.get(resource, 0) + times * amount
        if not booked[resource]:
            del booked[resource]


def of_pod(pod: Pod) -> Claim:
    """The claim of a bound pod."""
    return Claim(pod.node, pod.fit.requests, ids(pod.truth), ids(pod.plan), pod.limits)


def of_seat(seat: Seat, pod: Pod | None) -> Claim:
    """The claim of an unbound member of a gang; what it books is known once the pod has been seen."""
    booked: Mapping[str, int] = pod.fit.requests if pod else {}
    return Claim(seat.node, booked, frozenset(), ids(seat.allocation), pod.limits if pod else limits.NONE)


def of_placement(placement: Placement, yields_above: int | None = None) -> Claim:
    """The claim of a pod that is about to be bound, or for which room is made."""
    held = ids(placement.allocation)
    return Claim(placement.node, placement.requests, frozenset(), held, placement.limits, yields_above)
