"""What to do about a group for which places are reserved: bind it together, or give the places up.

Stands for the Permit phase of scheduler-plugins' coscheduling. It is the upper part of the table in `reconcile`; how
far the Reservation has come is the table in `commit`.
"""

from dataclasses import replace

from gpuyard.groups.reservations import Reservation
from gpuyard.writes import JSON
from gpuyard_operator.deciding import actions, commit, preemption, reasons, undoing
from gpuyard_operator.deciding.commit import Course, Progress, Seen
from gpuyard_operator.deciding.gang import Gang
from gpuyard_operator.deciding.view import Decision, View
from gpuyard_operator.objects.groups import Group


def decide(gang: Gang, view: View, obj: JSON) -> Decision:
    """The decision about a group whose name has this Reservation."""
    if obj["metadata"].get("deletionTimestamp"):
        return Decision(gang.report(None))
    unreserve = actions.unreserve(gang.group, obj)
    reservation = _own(gang.group, obj, view.seen)
    if reservation is None:
        return Decision((unreserve,), says="drops a reservation that is not this group's")
    seated = gang.seated(reservation)
    found = commit.progress(reservation, seated, gang.now, view.lost, view.seen)
    if gang.is_short(reservation) and not (found.bound or gang.started(reservation)):
        return Decision(
            (unreserve,), says=f"gives up the reserved places: now {gang.needed} are needed together"
        )
    if (decision := preemption.evict_victims(gang, view, reservation)) is not None:
        return decision
    match found.course:
        case Course.OPEN:
            return _admit(gang, reservation, found)
        case Course.DONE:
            started = gang.started(reservation)
            verdict = gang.scheduled() if started else None
            return Decision((*gang.report(verdict), unreserve), says=f"{len(found.bound)} members are bound")
        case Course.UNDO:
            bound = len(found.bound) + len(found.beside)
            says = f"undoes: only {bound} of {reservation.needed} members were bound"
            undone = undoing.evict(seated, view.refused, says)
            return replace(undone, writes=(*undone.writes, unreserve))
        case Course.VOID:
            says = "gives up the reserved places: they cannot be used any more"
            return Decision((unreserve,), says=says, final=bool(view.lost))


def _admit(gang: Gang, reservation: Reservation, found: Progress) -> Decision:
    admitted = actions.admit(found.pending)
    started = gang.started(reservation)
    verdict = gang.scheduled() if started else reasons.starting(len(reservation.seats))
    gated = sorted(member.name for member, _ in found.pending if member.gated)
    says = f"un-gates {', '.join(gated)}" if gated else ""
    return Decision(admitted + gang.report(verdict), found.until, says=says)


def _own(group: Group, obj: JSON, seen: Seen) -> Reservation | None:
    """The reservation in an object, when it is readable and of this very group, not of a namesake before it."""
    owners = [owner.get("uid") for owner in obj["metadata"].get("ownerReferences") or ()]
    reservation = commit.lasting(obj, seen)
    mine = reservation is not None and reservation.group == group.name and group.uid in owners
    return reservation if mine else None
