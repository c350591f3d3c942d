"""Allocate: may these ids be given?

Stands for NVIDIA's internal/plugin/server.go. One check is ours: ids that physically overlap what a live pod holds
are refused, because the kubelet can offer them (it counts anew while an admission is under way).
A refusal is final: the kubelet fails the pod with UnexpectedAdmissionError and these words.
"""

import enum
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from gpuyard_device_plugin.allocating.pod_devices import Claim, PodDevices
from gpuyard_device_plugin.devices.devices import DeviceTable


class RefusalReason(enum.Enum):
    """Why ids are not given."""

    UNKNOWN = enum.auto()
    UNHEALTHY = enum.auto()
    TWICE = enum.auto()
    NOTHING = enum.auto()
    SHARES = enum.auto()
    TAKEN = enum.auto()

    @property
    def code(self) -> str:
        """gRPC's status, as Go writes it and as it shows in the pod's status."""
        state = self in (RefusalReason.UNHEALTHY, RefusalReason.TAKEN)
        return "FailedPrecondition" if state else "InvalidArgument"


@dataclass(frozen=True, slots=True)
class Refusal:
    """`text` is what the user reads in the pod's status; `holder` has the device, where it is TAKEN."""

    reason: RefusalReason
    text: str
    holder: Claim | None = None


class AllocationRefusedError(Exception):
    """Allocate says no; the kubelet fails the pod for good with these words."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.text)
        self.refusal = refusal


@dataclass(frozen=True, slots=True)
class Allotment:
    """An Allocate of one container. `claim` is None where nobody knows whose it is."""

    resource: str
    ids: tuple[str, ...]
    claim: Claim | None = None
    single_share: bool = False
    """A container may get one share only."""


def check(table: DeviceTable, state: PodDevices, allotment: Allotment) -> Refusal | None:
    """Why the ids cannot be given; None when they can."""
    return _check_request(table, allotment) or _check_holders(table, state, allotment)


def check_all(table: DeviceTable, state: PodDevices, allotments: Sequence[Allotment]) -> Refusal | None:
    """Why the containers of one request cannot all be given their ids, each what those before it leave."""
    named = set[str]()
    for allotment in allotments:
        if (refusal := check(table, state, allotment)) is not None:
            return refusal
        if twice := named.intersection(allotment.ids):
            return _refusal(RefusalReason.TWICE, allotment, f"device named 2 times: {min(twice)}")
        named.update(allotment.ids)
        if covered := _covered(table, named):
            return _refusal(RefusalReason.TWICE, allotment, f"devices overlap: {', '.join(covered)}")
        if allotment.claim is not None:
            state = state.with_given(allotment.claim, allotment.ids)
    return None


def _covered(table: DeviceTable, ids: Iterable[str]) -> tuple[str, str] | None:
    """Two MIG devices of one request that cannot both be there."""
    places = [table.by_id[found] for found in sorted(ids) if table.by_id[found].size]
    pairs = ((one.id, other.id) for one, other in combinations(places, 2) if one.overlaps(other))
    return next(pairs, None)


def _check_request(table: DeviceTable, allotment: Allotment) -> Refusal | None:
    known = {device.id: device for device in table.of_resource(allotment.resource)}
    for found, times in Counter(allotment.ids).items():
        # NVIDIA's words.
        if found not in known:
            return _refusal(RefusalReason.UNKNOWN, allotment, f"unknown device: {found}")
        if times > 1:
            return _refusal(RefusalReason.TWICE, allotment, f"device named {times} times: {found}")
        if not known[found].healthy:
            return _refusal(RefusalReason.UNHEALTHY, allotment, f"unhealthy device: {found}")
    if not allotment.ids:
        return _refusal(RefusalReason.NOTHING, allotment, "no device named")
    shared = known[allotment.ids[0]].replica is not None
    if shared and allotment.single_share and len(allotment.ids) > 1:
        text = f"maximum request size for shared resources is 1; found {len(allotment.ids)}"
        return _refusal(RefusalReason.SHARES, allotment, text)
    return None


def _check_holders(table: DeviceTable, state: PodDevices, allotment: Allotment) -> Refusal | None:
    devices = [table.by_id[found] for found in allotment.ids]
    for found, claims in state.holders().items():
        held = table.by_id.get(found)
        if held is None or not any(held.overlaps(device) for device in devices):
            continue
        for holder in claims:
            again = found in allotment.ids
            if not _may_follow(state, holder, allotment.claim, again=again):
                pod = state.pods[holder.uid]
                text = f"device {found} is held by pod {pod.label}, container {holder.container}"
                return _refusal(RefusalReason.TAKEN, allotment, text, holder)
    return None


def _may_follow(state: PodDevices, holder: Claim, claim: Claim | None, *, again: bool) -> bool:
    """The same container again, or a later one of its pod that gets an init container's device `again`."""
    if claim is None or holder.uid != claim.uid:
        return False
    return holder == claim or (again and state.is_reusable(holder))


def _refusal(reason: RefusalReason, allotment: Allotment, text: str, holder: Claim | None = None) -> Refusal:
    prefix = f'invalid allocation request for "{allotment.resource}": invalid request: '
    return Refusal(reason, prefix + text, holder)
