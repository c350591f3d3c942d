"""How room is made for a gang, or for a pod alone whose shape kube-scheduler does not see.

Stands for the part of kube-scheduler's preemption that acts. Only here pods are evicted for others:

    Reservation                        its victims                    decision
    none                               -                              ask whose going would do (`post_filter`)
    there, with victims                some are there                 evict those, through the Eviction API, and wait
                                       all are gone                   the places are used as if they had been free
    expired                            some are gone, in vain         nobody goes for it again: the condition
                                                                      Preempting says InVain, or the Reservation of
                                                                      a pod alone stays
    expired, or its members wait no    all are there                  give it up
      more, or their places are lost, or
      nobody is to be evicted

What was decided is recorded before anybody is evicted: so whoever is killed at any moment goes on, and nobody else is
evicted for the same. A budget that refuses is asked again until the Reservation expires. Of a pod alone
kube-scheduler must have said that it is unschedulable, and must not make room for it itself.
"""

from collections.abc import Sequence
from dataclasses import replace

from gpuyard.groups.reservations import Reservation, Victim
from gpuyard.narration import few
from gpuyard.pods import memberships
from gpuyard.writes import JSON, Write
from gpuyard_kube.recording import Told
from gpuyard_operator.deciding import actions, commit, post_filter, reasons, status
from gpuyard_operator.deciding.asking import Ask, Hold, Quest, Record
from gpuyard_operator.deciding.gang import Gang
from gpuyard_operator.deciding.view import Decision, View
from gpuyard_operator.objects.groups import Group
from gpuyard_operator.objects.members import Member, read

NAMED = 5
"""An event names so many pods; the others are counted."""


def evict_victims(gang: Gang, view: View, reservation: Reservation) -> Decision | None:
    """Have everybody gone who is in the way of a group; None where nobody is, as if the places had been free."""
    seated = _seated(gang.members, reservation)
    if view.reservation is None or not reservation.victims:
        return None
    if _is_in_vain(view, seated, reservation, gang.now):
        return _in_vain(gang, actions.unreserve(gang.group, view.reservation))
    if not view.preemption.present:
        return None
    if not _is_useful(view, seated, reservation, gang.now):
        return _give_up(actions.unreserve(gang.group, view.reservation))
    verdict = reasons.preempting(_names(reservation.victims))
    cleared = _clear(view, f"pod group {gang.group.namespace}/{gang.group.name}")
    # kube-scheduler keeps the CPU and memory that become free for them, too.
    writes = (*gang.report(verdict), *actions.nominate(seated), *cleared.writes)
    return replace(cleared, writes=writes, requeue_at=reservation.expires)


def alone(view: View, now: float) -> Decision:
    """What to do about a pod without a group, or about what was recorded for it."""
    members = [member for pod in view.pods if (member := read(pod)) is not None]
    if view.reservation is not None:
        return _reserved(view, view.reservation, members, now)
    if not members or members[0].nominated:
        return Decision()
    member = members[0]
    group = Group(member.namespace, memberships.alone(member.uid), member.uid)
    match post_filter.preempt(Quest(group, (member,), 1), view.known, now):
        case Record(reservation):
            says = f"reserves {member.name}'s place on {reservation.seats[0].node}"
            return Decision((actions.reserve(reservation, group),), says=says)
        case Ask(request):
            return Decision(ask=request, says="asks whose going would make room")
        case Hold(until):
            return Decision(requeue_at=until)
    return Decision()


def is_alone(view: View) -> bool:
    """Whether it is about a pod without a group, and not about a group that is gone."""
    if view.group is not None:
        return False
    owners = view.reservation["metadata"].get("ownerReferences") or () if view.reservation else ()
    return any(owner.get("kind") == "Pod" for owner in owners) or any(
        memberships.claimed(pod) is None for pod in view.pods
    )


def _reserved(view: View, obj: JSON, members: Sequence[Member], now: float) -> Decision:
    metadata, reservation = obj["metadata"], commit.lasting(obj, view.seen)
    if metadata.get("deletionTimestamp"):
        return Decision()
    unreserve = actions.unreserve(Group(str(metadata["namespace"]), str(metadata["name"]), ""), obj)
    if reservation is None:
        return Decision((unreserve,), says="drops a reservation that cannot be read")
    seated = _seated(members, reservation)
    if view.preemption.present and _is_useful(view, seated, reservation, now):
        cleared = _clear(view, f"pod {reservation.namespace}/{reservation.seats[0].name}")
        events = (_told(seated[0][0], reservation),) if cleared.final else ()
        return replace(cleared, requeue_at=reservation.expires, events=events)
    if not seated:
        return Decision((unreserve,), says="its place is reserved no longer: the pod waits no more")
    if _is_in_vain(view, seated, reservation, now):
        # It holds nothing any more, but reminds that somebody went for the pod: they would come and go for ever.
        return Decision()
    return (
        _give_up(unreserve)
        if view.preemption.present or view.lost
        else Decision(requeue_at=reservation.expires)
    )


def _in_vain(gang: Gang, unreserve: Write) -> Decision:
    said = "others went for it, and it was not bound in time: nobody goes again before it is scheduled"
    found = status.condition(status.PREEMPTING, False, "InVain", said)
    told = actions.report(gang.group, {"conditions": status.conditions(gang.group, [found], gang.now)})
    return Decision((*told, unreserve), says="gives up the reserved places: it was not bound in time")


def _give_up(unreserve: Write) -> Decision:
    return Decision(
        (unreserve,), says="gives up the reserved places: they are taken, or cannot be used any more"
    )


def _seated(members: Sequence[Member], reservation: Reservation) -> list[tuple[Member, str]]:
    """Who waits for a seat, with its node."""
    waiting = {member.uid: member for member in members if member.waiting}
    return [(waiting[seat.uid], seat.node) for seat in reservation.seats if seat.uid in waiting]


def _is_useful(view: View, seated: Sequence[tuple[Member, str]], found: Reservation, now: float) -> bool:
    """Whether the places will be of use once nobody is in the way."""
    usable = sum(member.uid not in view.lost for member, _ in seated)
    return usable >= max(1, found.needed) and now < found.expires and view.known.lowest is not None


def _is_in_vain(view: View, seated: Sequence[tuple[Member, str]], found: Reservation, now: float) -> bool:
    """Whether somebody went for pods that all still wait, now that it has expired."""
    went = len(view.preemption.present) < len(found.victims)
    return went and len(seated) == len(found.seats) and now >= found.expires


def _clear(view: View, preemptor: str) -> Decision:
    """The evictions that are left to do, with an event for each."""
    going, text = view.preemption.unevicted, f"Preempted by {preemptor}"
    writes = tuple(map(actions.evict, going))
    told = (Told(reasons.about("v1", "Pod", victim), "Preempted", text) for victim in going)
    written = dict(zip((write.path for write in writes), told, strict=True))
    says = f"evicts {_names(going)}" if going else ""
    return Decision(writes, says=says, final=bool(going), written=written)


def _told(member: Member, reservation: Reservation) -> Told:
    about = reasons.about("v1", "Pod", member)
    return Told(about, "Preempting", f"Evicts for it: {_names(reservation.victims)}")


def _names(victims: Sequence[Victim]) -> str:
    return few([f"{victim.namespace}/{victim.name}" for victim in victims], NAMED)
