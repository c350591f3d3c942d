"""Places for a whole gang, or the first member that has none.

Stands for the PodGroup scheduling cycle. The same question gets the same answer while its promise lives, so that a
caller who lost the answer may ask again; a promise that no longer holds is planned anew. Nobody has to go for pods
that fit, and for a pod alone no places are held unless somebody has to go.
"""

from gpuyard.groups import gangs
from gpuyard.groups.gangs import GangRejection
from gpuyard.groups.plans import PlanAnswer, Planned, PlanRequest, Unplaceable, Unready
from gpuyard.groups.reservations import Reservation, Seat, Victim
from gpuyard.placing.cluster import Placement
from gpuyard.pods import memberships
from gpuyard.policies.candidates import Policy
from gpuyard_extender import feasibility, settings
from gpuyard_extender.groups import placeable
from gpuyard_extender.ledger import Ledger
from gpuyard_extender.pods import Pod
from gpuyard_extender.searching import Found, Search


def begin(request: PlanRequest, ledger: Ledger, now: float) -> PlanAnswer | Search:
    """The answer, where there is nothing to look for."""
    pods = _members(request, ledger)
    if isinstance(pods, Unready):
        return pods
    kept = _kept(request, ledger, now)
    if kept is not None:
        return Planned(kept)
    search = Search.of(pods, ledger, now, request.nearness)
    return search.at_others_expense(ledger) if request.preempt else search


def end(request: PlanRequest, found: Found, ledger: Ledger, policy: Policy, now: float) -> PlanAnswer | None:
    """The answer from what a search has found; the places of a plan that is answered are held from now on.

    What does not hold any more is looked for again, at once: nobody has to go because of what was a moment ago.
    None: who has to go is not to be said any more, and `begin` has to be asked again.
    """
    pods = _members(request, ledger)
    if isinstance(pods, Unready):
        return pods
    good = found.holds(ledger, now) or (isinstance(found.places, GangRejection) and not request.preempt)
    placed = (found if good else Search.of(pods, ledger, now, request.nearness).find(policy)).places
    victims, expires, room = tuple[Victim, ...](), now, found.room
    if isinstance(placed, GangRejection):
        if room is None:
            excess = gangs.excess(placeable(pods), ledger.cluster(now))
            return Unplaceable(placed.member, (*excess, *placed.rejections))
        if not found.clears(room, ledger, now):
            return None
        placed, victims, expires = room.placements, room.victims, now + room.seconds
    elif pods[0].group is None:
        return Unready("the pod fits: kube-scheduler is about to try it again")
    reservation = Reservation(
        namespace=request.namespace,
        group=request.group,
        needed=request.needed,
        # Whole milliseconds: the moment must survive its way through the API object unchanged.
        expires=round(expires + settings.RESERVATION_SECONDS, 3),
        seats=tuple(
            Seat(pod.uid, pod.name, place.node, place.allocation)
            for pod, place in zip(pods, placed, strict=True)
        ),
        victims=victims,
    )
    ledger.promise(reservation)
    return Planned(reservation)


def _members(request: PlanRequest, ledger: Ledger) -> list[Pod] | Unready:
    pods = []
    for uid in request.members:
        pod = ledger.pods.get(uid)
        if pod is None or not pod.pending:
            return Unready(f"member {uid}: {'it waits no more' if pod else 'not seen yet'}; ask again")
        if (pod.namespace, _group(pod, request)) != (request.namespace, request.group):
            return Unready(f"member {uid}: it is no pod of the group {request.namespace}/{request.group}")
        pods.append(pod)
    return pods


def _group(pod: Pod, request: PlanRequest) -> str | None:
    return memberships.alone(pod.uid) if pod.group is None and request.preempt else pod.group


def _kept(request: PlanRequest, ledger: Ledger, now: float) -> Reservation | None:
    """The promise that answers this very question, while each of its seats still holds."""
    promised = ledger.promised(request.namespace, request.group, now)
    if promised is None or promised.needed != request.needed:
        return None
    if tuple(seat.uid for seat in promised.seats) != request.members:
        return None
    return promised if all(_holds(seat, ledger, now) for seat in promised.seats) else None


def _holds(seat: Seat, ledger: Ledger, now: float) -> bool:
    pod, node = ledger.pods.get(seat.uid), ledger.node(seat.node, now, {seat.uid})
    if pod is None or node is None:
        return False
    return isinstance(feasibility.judge(pod, node, seat), Placement)
