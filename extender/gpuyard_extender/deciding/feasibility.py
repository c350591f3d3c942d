"""Whether one pod may go to one node, and with which devices: the one answer behind Filter, Score, Bind and explain.

Stands for the Filter plugins of kube-scheduler's framework. On top of the domain's fit comes one rule of gangs: a
member that wants GPUs goes nowhere but to its seat.
"""

from gpuyard.annotations import Allocation, ids
from gpuyard.groups.reservations import Seat
from gpuyard.placing import placement, room
from gpuyard.placing.cluster import Node, Placement
from gpuyard.pods.limits import Limits
from gpuyard.verdicts import Reason, Rejection
from gpuyard_extender.ledger.pods import Pod


def needs_seat(pod: Pod) -> bool:
    """Whether the pod may start only with its gang. Members without GPUs are held by their scheduling gate alone."""
    return pod.group is not None and pod.wants_gpus


def judge(pod: Pod, node: Node, seat: Seat | None) -> Placement | Rejection:
    """The placement of `pod` on `node`. The claim of the pod itself must not be in `node`."""
    if isinstance(pod.request, Rejection):
        return Rejection(node.name, pod.request.reason, pod.request.detail)
    if needs_seat(pod) and (seat is None or seat.node != node.name):
        detail = f"pod group {pod.group} holds {f'a seat on {seat.node}' if seat else 'no seat'} for it"
        return Rejection(node.name, Reason.RESERVATION_MISSING, detail)
    verdict = placement.judge(pod.fit, pod.request, node)
    if isinstance(verdict, Rejection) or seat is None:
        return verdict
    return _seated(pod, node, seat)


def is_idle(kept: Placement, node: Node) -> bool:
    """Whether all its devices are still there, well and nobody's, and worth what they were."""
    idle = _idle(kept.allocation, node)
    well = all(idle.get(found, False) for found in ids(kept.allocation))
    return well and _is_worth_it(kept.allocation, kept.limits, node)


def _seated(pod: Pod, node: Node, seat: Seat) -> Placement | Rejection:
    """The placement that the seat says, while its devices are still there, well and nobody else's."""
    idle = _idle(seat.allocation, node)
    lost = sorted(found for found in ids(seat.allocation) if not idle.get(found, False))
    if lost:
        reason = Reason.GPU_UNHEALTHY if idle.keys() >= set(lost) else Reason.INSUFFICIENT_GPUS
        return Rejection(node.name, reason, f"reserved devices are taken, sick or gone: {', '.join(lost)}")
    if not _is_worth_it(seat.allocation, pod.limits, node):
        return Rejection(node.name, Reason.SHARES_EXHAUSTED, "others use what the reserved share was to get")
    return Placement(pod.uid, node.name, seat.allocation, pod.fit.requests, pod.limits)


def _is_worth_it(allocation: Allocation, limited: Limits, node: Node) -> bool:
    """Whether there are thousandths and memory enough for these shares."""
    if node.occupancy is None or node.inventory is None:
        return True
    devices = (found for found in node.inventory.devices() if found.id in ids(allocation))
    return room.suffices(node.occupancy, devices, limited)


def _idle(allocation: Allocation, node: Node) -> dict[str, bool]:
    """Which devices of these resources nobody has, and whether they are healthy."""
    resources = {resource for held in allocation.values() for resource in held}
    return {device.id: device.healthy for resource in resources for device in node.idle(resource)}
