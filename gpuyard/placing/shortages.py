"""Why a node's devices do not suffice, said by reason code and with the numbers."""

import dataclasses
from collections.abc import Sequence
from typing import Final

from gpuyard import vocabulary
from gpuyard.hardware.inventory import Device
from gpuyard.placing.cluster import Node
from gpuyard.placing.occupancy import Occupancy
from gpuyard.verdicts import Reason, Rejection

_LABEL: Final = f"for fake GPUs it needs the label {vocabulary.FAKE_GPUS}=true"
"""Said of nodes on which no plugin runs: that it is missing is the most frequent reason."""


def by_devices(occupancy: Occupancy, resource: str, needed: int) -> Rejection | None:
    """Why a node, which is not named, cannot give `needed` devices at one time; None when it can."""
    offered, idle = occupancy.offered(resource), occupancy.unowned(resource)
    free = sum(device.healthy for device in idle)
    if free >= needed:
        return None
    if not offered:
        return absent("", resource)
    numbers = f"{needs(resource, needed, offered)}, {free} free of {len(offered)}"
    if len(idle) >= needed:
        return Rejection("", Reason.GPU_UNHEALTHY, f"{numbers}, {len(idle) - free} unhealthy")
    return Rejection("", _reason(resource, offered), numbers)


def by_places(occupancy: Occupancy, resource: str, container: str) -> Rejection:
    """There are as many as are asked for, but they lie on each other, or on what the pod's other containers get."""
    detail = f"{resource} for {container}: those that are free overlap"
    return Rejection("", _reason(resource, occupancy.offered(resource)), detail)


def by_count(node: Node, resource: str, needed: int) -> Rejection:
    """The same where kube-scheduler's own count says no: by allocatable and what is booked."""
    total = node.fit.allocatable.get(resource, 0)
    offered = node.devices(resource)
    if not total and not offered:
        found = absent(node.name, resource)
        unlabelled = vocabulary.FAKE_GPUS not in node.fit.labels
        return dataclasses.replace(found, detail=f"{found.detail}; {_LABEL}") if unlabelled else found
    left = max(0, total - node.used.get(resource, 0))
    numbers = f"{needs(resource, needed, offered)}, {left} free of {total} allocatable"
    return Rejection(node.name, _reason(resource, offered), numbers)


def absent(node: str, resource: str) -> Rejection:
    """The node has none of the resource."""
    return Rejection(node, Reason.NO_SUCH_RESOURCE, f"the node offers no {resource}")


def _reason(resource: str, offered: Sequence[Device]) -> Reason:
    if _shared(resource, offered):
        return Reason.SHARES_EXHAUSTED
    if _instances(resource, offered):
        return Reason.NO_MIG_PLACEMENT
    return Reason.INSUFFICIENT_GPUS


def needs(resource: str, needed: int, offered: Sequence[Device]) -> str:
    """How many devices are asked for, in words."""
    plural = "" if needed == 1 else "s"
    if _shared(resource, offered):
        return f"needs {needed} share{plural} of a GPU"
    if _instances(resource, offered):
        return f"needs {needed} MIG instance{plural} ({resource})"
    return f"needs {needed} GPU{plural}"


def _shared(resource: str, offered: Sequence[Device]) -> bool:
    return resource == vocabulary.GPU_SHARED or any(device.replica is not None for device in offered)


def _instances(resource: str, offered: Sequence[Device]) -> bool:
    return resource.startswith(vocabulary.MIG_PREFIX) or any(device.size for device in offered)
