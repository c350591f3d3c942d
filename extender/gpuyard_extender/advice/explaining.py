"""Why a pod waits, also where kube-scheduler never asked: gated pods and nodes that its own checks ruled out.

Stands for the FailedScheduling event. One code sums up the nodes: that of the node which comes closest to taking the
pod, because that is what has to change first. The order of closeness is `explain.CLOSEST`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gpuyard.advice import explain
from gpuyard.groups import plans
from gpuyard.groups.gangs import GangRejection
from gpuyard.groups.reservations import Reservation, Seat
from gpuyard.placing.cluster import Cluster
from gpuyard.policies.candidates import Policy
from gpuyard.verdicts import Reason, Rejection
from gpuyard.writes import JSON
from gpuyard_extender.deciding import feasibility
from gpuyard_extender.deciding.searching import Search
from gpuyard_extender.ledger.ledger import Ledger
from gpuyard_extender.ledger.pods import Pod


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


def explain_pod(pod: Pod, ledger: Ledger, policy: Policy, now: float) -> Callable[[], JSON]:
    """What makes the explanation for one pod, from the ledger as it is now, wherever `policy` may be asked."""
    known = _known(pod, ledger, now)
    if isinstance(known, Search):
        return lambda: _explain_unseated(pod, known, policy).to_json()
    if known is not None:
        return known.to_json
    seated, cluster = ledger.seat(pod.uid, now), ledger.cluster(now, ledger.yielding([pod]))
    if seated is None:
        return lambda: _explain_alone(pod, cluster).to_json()
    leaving = [victim.name for victim in seated[0].victims if not ledger.pods.deleted(victim.uid)]
    return lambda: _explain_seated(pod, *seated, cluster, leaving).to_json()


def _known(pod: Pod, ledger: Ledger, now: float) -> Explanation | Search | None:
    """The explanation where no node has to be looked at for the pod alone, or what looks for places for its gang."""
    if not pod.pending:
        return Explanation(pod, None)
    if isinstance(pod.request, Rejection):
        return Explanation(pod, pod.request.reason, detail=pod.request.detail)
    unseated = ledger.seat(pod.uid, now) is None
    if unseated and pod.group is not None and (pod.gated or feasibility.needs_seat(pod)):
        return _explain_gang(pod, pod.group, ledger, now)
    return None


def _explain_alone(pod: Pod, cluster: Cluster) -> Explanation:
    assert not isinstance(pod.request, Rejection)
    found = explain.explain(pod.fit, pod.request, cluster)
    fits = tuple(sorted(cluster.nodes.keys() - {rejection.node for rejection in found}))
    code = None if fits else explain.closest(rejection.reason for rejection in found)
    return Explanation(pod, code, found, fits=fits)


def _explain_seated(
    pod: Pod, reservation: Reservation, seat: Seat, cluster: Cluster, leaving: Sequence[str]
) -> Explanation:
    """Only the node of its seat counts: the others refuse it for the seat's sake."""
    verdicts = [feasibility.judge(pod, node, seat) for _, node in sorted(cluster.nodes.items())]
    found = tuple(verdict for verdict in verdicts if isinstance(verdict, Rejection))
    own = next((verdict for verdict in found if verdict.node == seat.node), None)
    if own is not None or seat.node not in cluster.nodes:
        detail = f"has a seat on {seat.node} once these are gone: {', '.join(leaving)}" if leaving else ""
        return Explanation(pod, own.reason if own else Reason.NODE_NOT_READY, found, detail)
    detail = f"has a seat on {seat.node}; waits until {reservation.needed} members can be bound together"
    return Explanation(pod, Reason.GANG_WAITING, found, detail)


def _explain_gang(pod: Pod, name: str, ledger: Ledger, now: float) -> Explanation | Search:
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
    return Search.of(waiting[:missing], ledger, now, group.nearness)


def _explain_unseated(pod: Pod, search: Search, policy: Policy) -> Explanation:
    placed = search.find(policy).places
    if isinstance(placed, GangRejection):
        detail = f"no node for member {placed.member}"
        return Explanation(pod, Reason.GANG_UNPLACEABLE, placed.rejections, detail)
    missed = Reason.RESERVATION_MISSING if feasibility.needs_seat(pod) else None
    return Explanation(pod, missed, detail="its pod group fits, but holds no seat for it yet")
