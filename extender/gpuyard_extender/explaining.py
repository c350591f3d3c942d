"""Why a pod waits, also where kube-scheduler never asked: gated pods and nodes that its own checks ruled out.

Stands for the FailedScheduling event. One code sums up the nodes: that of the node which comes closest to taking the
pod, because that is what has to change first. The order of closeness is `_CLOSEST`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gpuyard import explain, plans
from gpuyard.gangs import GangRejection
from gpuyard.policies.candidates import Policy
from gpuyard.reservations import Reservation, Seat
from gpuyard.verdicts import Reason, Rejection
from gpuyard.writes import JSON
from gpuyard_extender import feasibility, planning, scheduling
from gpuyard_extender.ledger import Ledger
from gpuyard_extender.pods import Pod

_CLOSEST = (
    # The node has the right devices, but not now.
    Reason.SHARES_EXHAUSTED,
    Reason.NO_MIG_PLACEMENT,
    Reason.TOPOLOGY_UNSATISFIED,
    Reason.INSUFFICIENT_GPUS,
    Reason.GPU_UNHEALTHY,
    Reason.INSUFFICIENT_RESOURCES,
    # It has GPUs, but of another kind.
    Reason.GPU_MEMORY_TOO_SMALL,
    Reason.GPU_MODEL_MISMATCH,
    # It is not meant for this pod.
    Reason.NODE_NOT_READY,
    Reason.TAINT_NOT_TOLERATED,
    Reason.NODE_AFFINITY_MISMATCH,
    Reason.RESERVATION_MISSING,
    Reason.NO_SUCH_RESOURCE,
)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why `pod` waits. `code` None: it does not wait, or some node would take it."""

    pod: Pod
    code: Reason | None
    rejections: tuple[Rejection, ...] = ()
    detail: str = ""

    def to_json(self) -> JSON:
        """{"pod", "phase", "code", "group"?, "detail"?, "nodes": [{"node", "reason", "detail"}]}."""
        return {
            "pod": f"{self.pod.namespace}/{self.pod.name}",
            "phase": self.pod.phase,
            "code": self.code.value if self.code else None,
            **({"group": self.pod.group} if self.pod.group else {}),
            **({"detail": self.detail} if self.detail else {}),
            "nodes": [plans.rejection_to_json(found) for found in self.rejections],
        }


def explain_pod(pod: Pod, ledger: Ledger, policy: Policy, now: float) -> Explanation:
    """The explanation for one pod."""
    if not pod.pending:
        return Explanation(pod, None)
    if isinstance(pod.request, Rejection):
        return Explanation(pod, pod.request.reason, detail=pod.request.detail)
    seated = ledger.seat(pod.uid, now)
    if seated is not None:
        return _explain_seated(pod, *seated, ledger, now)
    if pod.group is not None:
        return _explain_gang(pod, pod.group, ledger, policy, now)
    cluster = ledger.cluster(now, {pod.uid})
    found = explain.explain(pod.fit, pod.request, cluster)
    return Explanation(pod, closest(found) if len(found) == len(cluster.nodes) else None, found)


def closest(rejections: Sequence[Rejection]) -> Reason:
    """The code of the node that comes closest to taking the pod; NodeNotReady where there is no node."""
    codes = {found.reason for found in rejections}
    return next((code for code in _CLOSEST if code in codes), Reason.NODE_NOT_READY)


def _explain_seated(
    pod: Pod, reservation: Reservation, seat: Seat, ledger: Ledger, now: float
) -> Explanation:
    """Only the node of its seat counts: the others refuse it for the seat's sake."""
    names = sorted(ledger.cluster(now, {pod.uid}).nodes)
    verdicts = [scheduling.judge(pod, name, ledger, now) for name in names]
    found = tuple(verdict for verdict in verdicts if isinstance(verdict, Rejection))
    own = next((verdict for verdict in found if verdict.node == seat.node), None)
    if own is not None or seat.node not in names:
        return Explanation(pod, own.reason if own else Reason.NODE_NOT_READY, found)
    detail = f"has a seat on {seat.node}; waits until {reservation.needed} members can be bound together"
    return Explanation(pod, Reason.GANG_WAITING, found, detail)


def _explain_gang(pod: Pod, name: str, ledger: Ledger, policy: Policy, now: float) -> Explanation:
    group, members = ledger.groups.named(pod.namespace, name), ledger.members(pod.namespace, name)
    if group is None:
        return Explanation(pod, Reason.GANG_WAITING, detail=f"there is no PodGroup {name}")
    if len(members) < group.needed:
        detail = f"{len(members)} of {group.needed} members are there"
        return Explanation(pod, Reason.GANG_WAITING, detail=detail)
    missing = max(1, group.needed - sum(not found.pending for found in members))
    waiting = [found for found in members if found.pending]
    placed = planning.place(waiting[:missing], ledger, policy, now)
    if isinstance(placed, GangRejection):
        detail = f"no node for member {placed.member}"
        return Explanation(pod, Reason.GANG_UNPLACEABLE, placed.rejections, detail)
    missed = Reason.RESERVATION_MISSING if feasibility.needs_seat(pod) else None
    return Explanation(pod, missed, detail="its pod group fits, but holds no seat for it yet")
