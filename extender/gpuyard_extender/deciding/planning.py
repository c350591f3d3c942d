"""Places for a whole gang, or the first member that has none.

Stands for the PodGroup scheduling cycle. The same question gets the same answer while its promise lives, so that a
caller who lost the answer may ask again; a promise that no longer holds is planned anew. Nobody has to go for pods
that fit, and for a pod alone no places are held unless somebody has to go.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from gpuyard.groups import gangs
from gpuyard.groups.gangs import GangRejection
from gpuyard.groups.plans import PlanAnswer, Planned, PlanRequest, Unplaceable, Unready
from gpuyard.groups.reservations import Reservation, Seat
from gpuyard.placing.cluster import Placement
from gpuyard.pods import memberships
from gpuyard.policies.candidates import Policy
from gpuyard_extender import settings
from gpuyard_extender.deciding import feasibility, relief
from gpuyard_extender.deciding.evicting import Room
from gpuyard_extender.deciding.searching import Found, Search
from gpuyard_extender.ledger.groups import placeable
from gpuyard_extender.ledger.ledger import Ledger
from gpuyard_extender.ledger.pods import Pod

_ELUSIVE: Final = Unready("the cluster changes so fast that what is found is outdated at once")


def begin(
    request: PlanRequest, ledger: Ledger, now: float, before: Found | None = None
) -> PlanAnswer | Search:
    """The answer, where there is nothing to look for. `before`: what was found last, and is outdated."""
    pods = _members(request, ledger)
    if isinstance(pods, Unready):
        return pods
    kept = _kept(request, ledger, now)
    if kept is not None:
        return Planned(kept)
    search = Search.of(pods, ledger, now, request.nearness)
    if before is not None:
        search = replace(search, earlier=before.search.earlier + 1)
    return search.at_others_expense(ledger) if request.preempt else search


def end(request: PlanRequest, found: Found, ledger: Ledger, policy: Policy, now: float) -> PlanAnswer | None:
    """The answer from what a search has found; the places of a plan that is answered are held from now on.

    What does not hold any more is looked for again, at once: nobody has to go because of what was a moment ago.
    None: who has to go is not to be said any more, and `begin` has to be asked again.
    """
    pods = _members(request, ledger)
    if isinstance(pods, Unready):
        return pods
    none_found = isinstance(found.places, GangRejection)
    good = found.holds(ledger, now) or (none_found and not request.preempt)
    placed = (found if good else Search.of(pods, ledger, now, request.nearness).find(policy)).places
    if not isinstance(placed, GangRejection):
        if pods[0].group is None:
            return Unready("the pod fits: kube-scheduler is about to try it again")
        return _promised(request, pods, Room(placed, (), 0), ledger, now)
    if found.room is None and (none_found or not request.preempt):
        excess = gangs.excess(placeable(pods), ledger.cluster(now))
        return Unplaceable(placed.member, (*excess, *placed.rejections))
    return _at_others_expense(request, pods, found, ledger, now)


def _at_others_expense(
    request: PlanRequest, pods: Sequence[Pod], found: Found, ledger: Ledger, now: float
) -> PlanAnswer | None:
    """Nobody goes in vain, ever; whether somebody need not go any more is looked at a few times only."""
    search, room = found.search, found.room
    if room is None or search.tenancy is None or not found.clears(room, search.tenancy, ledger, now):
        return _ELUSIVE if search.is_last else None
    if not search.is_last and relief.may_spare(search, search.tenancy, room, ledger, now):
        return None
    return _promised(request, pods, room, ledger, now)


def _promised(request: PlanRequest, pods: Sequence[Pod], room: Room, ledger: Ledger, now: float) -> Planned:
    reservation = Reservation(
        namespace=request.namespace,
        group=request.group,
        needed=request.needed,
        # Whole milliseconds: the moment must survive its way through the API object unchanged.
        expires=round(now + room.seconds + settings.RESERVATION_SECONDS, 3),
        seats=tuple(
            Seat(pod.uid, pod.name, place.node, place.allocation)
            for pod, place in zip(pods, room.placements, strict=True)
        ),
        victims=room.victims,
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
    if (pod := ledger.pods.get(seat.uid)) is None:
        return False
    node = ledger.node(seat.node, now, ledger.yielding([pod]))
    return node is not None and isinstance(feasibility.judge(pod, node, seat), Placement)
