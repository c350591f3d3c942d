"""Whether the kubelet takes a pod that was bound to its node.

Stands for the kubelet's admit handlers. Predicates look at what the node itself can judge: its labels, CPU, memory
and the number of pods. Devices are counted by the device manager, so that a pod that lost a race is refused in its
words.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from gpuyard.pods import fit
from gpuyard.verdicts import Reason
from gpuyard.writes import JSON
from gpuyard_cluster.kubelet.allocation import DeviceAllocator
from gpuyard_cluster.kubelet.device_manager import AllocationError

UNEXPECTED = "UnexpectedAdmissionError"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a pod ends before it starts: `reason` and `message` of its status."""

    reason: str
    message: str


async def judge(
    pod: JSON, node: JSON, admitted: Sequence[JSON], allocator: DeviceAllocator
) -> Refusal | None:
    """Get `pod` its devices, if it fits beside the admitted pods; why it is refused, or None."""
    refusal = misfit(pod, node, admitted)
    if refusal is not None:
        return refusal
    try:
        await allocator.allocate(pod)
    except AllocationError as error:
        problem = f"Allocate failed due to {error}, which is unexpected"
        return Refusal(UNEXPECTED, f"Pod was rejected: {problem}")
    return None


def misfit(pod: JSON, node: JSON, admitted: Iterable[JSON]) -> Refusal | None:
    """Why `pod` does not fit beside the admitted pods; None when it does."""
    wanted = fit.PodFit.of(pod)
    used: Counter[str] = Counter()
    for other in admitted:
        used.update(_own(fit.requests_of(other)))
    # Cordons and NoSchedule taints keep the scheduler away; a pod that is here already has passed them.
    place = replace(fit.NodeFit.of(node), taints=(), unschedulable=False, ready=True)
    shortfalls = fit.check(replace(wanted, requests=_own(wanted.requests)), place, used)
    return _refusal(shortfalls[0], wanted, place, used) if shortfalls else None


def _refusal(short: fit.Shortfall, pod: fit.PodFit, node: fit.NodeFit, used: fit.Amounts) -> Refusal:
    resource = short.resource
    if not resource:
        predicate = "NodeAffinity" if short.reason is Reason.NODE_AFFINITY_MISMATCH else short.reason.value
        return Refusal(predicate, f"Pod was rejected: Predicate {predicate} failed: {short.text}")
    numbers = f"requested: {pod.requests[resource]}, used: {used.get(resource, 0)}"
    capacity = node.allocatable.get(resource, 0)
    problem = f"Node didn't have enough resource: {resource}, {numbers}, capacity: {capacity}"
    return Refusal(f"OutOf{resource}", f"Pod was rejected: {problem}")


def _own(amounts: fit.Amounts) -> dict[str, int]:
    """Without extended resources, whose names have a domain."""
    return {resource: amount for resource, amount in amounts.items() if "/" not in resource}
