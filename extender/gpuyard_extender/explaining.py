"""Why a pod waits, also where kube-scheduler never asked: gated pods and nodes that its own checks ruled out.

Stands for the FailedScheduling event. One code sums up the nodes: that of the node which comes closest to taking the
pod, because that is what has to change first. The order of closeness is `explain.CLOSEST`.
"""

from dataclasses import dataclass

from gpuyard.advice import explain
from gpuyard.groups import plans
from gpuyard.groups.gangs import GangRejection
from gpuyard.groups.reservations import Reservation, Seat
from gpuyard.policies.candidates import Policy
from gpuyard.verdicts import Reason, Rejection
from gpuyard.writes import JSON
from gpuyard_extender import feasibility, planning, scheduling
from gpuyard_extender.ledger import Ledger
from gpuyard_extender.pods import Pod


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why `pod` waits. `code` None: it does not wait, or some node would take it: `fits` are their names."""

    pod: Pod
    code: Reason | None
    rejections: tuple[Rejection, ...] = ()
    detail: str = ""
    fits: tuple[str, ...] = ()

    def to_json(self) -> JSON:
        """{"pod", "phase", "code", "node"?, "group"?, "detail"?, "fits"?, "nodes"}, as `plans.rejection_to_json`."""
        return {
            "pod": f"{self.pod.namespace}/{self.pod.name}",
            "phase": self.pod.phase,
            "code": self.code.value if self.code else None,
            **({"node": self.pod.node} if self.pod.node else {}),
            **({"group": self.pod.group} if self.pod.group else {}),
            **({"detail": self.detail} if self.detail else {}),
            **({"fits": list(self.fits)} if self.fits else {}),
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
    if pod.group is not None and (pod.gated or feasibility.needs_seat(pod)):
        return _explain_gang(pod, pod.group, ledger, policy, now)
    cluster = ledger.cluster(now, {pod.uid})
    found = explain.explain(pod.fit, pod.request, cluster)
    fits = tuple(sorted(cluster.nodes.keys() - {rejection.node for rejection in found}))
    code = None if fits else explain.closest(rejection.reason for rejection in found)
    return Explanation(pod, code, found, fits=fits)


def _explain_seated(
    pod: Pod, reservation: Reservation, seat: Seat, ledger: Ledger, now: float
) -> Explanation:
    """Only the node of its seat counts: the others refuse it for the seat's sake."""
    names = sorted(ledger.cluster(now, {pod.uid}).nodes)
    verdicts = [scheduling.judge(pod, name, ledger, now) for name in names]
    found = tuple(verdict for verdict in verdicts if isinstance(verdict, Rejection))
    own = next((verdict for verdict in found if verdict.node == seat.node), None)
    if own is not None or seat.node not in names:
        leaving = [victim.name for victim in reservation.victims if not ledger.pods.deleted(victim.uid)]
        detail = f"has a seat on {seat.node} once these are gone: {', '.join(leaving)}" if leaving else ""
        return Explanation(pod, own.reason if own else Reason.NODE_NOT_READY, found, detail)
    detail = f"has a seat on {seat.node}; waits until {reservation.needed} members can be bound together"
    return Explanation(pod, Reason.GANG_WAITING, found, detail)


def _explain_gang(pod: Pod, name: str, ledger: Ledger, policy: Policy, now: float) -> Explanation:
    group, members = ledger.groups.named(pod.namespace, name), ledger.members(pod.namespace, name)
    if group is None:
        return Explanation(pod, Reason.GANG_WAITING, detail=f"there is no PodGroup {name}")
    if group.withheld is not None:
        return Explanation(pod, group.withheld.reason, detail=group.withheld.detail)
    if len(members) < group.needed:
        detail = f"{len(members)} of {group.needed} members are there"
        return Explanation(pod, Reason.GANG_WAITING, detail=detail)
    if isinstance(group.nearness, Rejection):
        return Explanation(pod, group.nearness.reason, detail=group.nearness.detail)
    missing = max(1, group.needed - sum(not found.pending for found in members))
    waiting = [found for found in members if found.pending]
    placed = planning.place(waiting[:missing], ledger, policy, now, group.nearness)
    if isinstance(placed, GangRejection):
        detail = f"no node for member {placed.member}"
        return Explanation(pod, Reason.GANG_UNPLACEABLE, placed.rejections, detail)
    missed = Reason.RESERVATION_MISSING if feasibility.needs_seat(pod) else None
    return Explanation(pod, missed, detail="its pod group fits, but holds no seat for it yet")
