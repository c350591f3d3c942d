"""What to do about one PodGroup now: a pure function of what is known, correct for any order of events.

Stands for the controller and the Permit phase of scheduler-plugins' coscheduling, done from outside the scheduler.

    PodGroup, Reservation          members                                   decision
    no group, or being deleted     any                                       gates stay, GC clears up
    none, or no group              gated, but nominated                      withdraw what they were promised
    Reservation of another group   any                                       delete it
      of that name, or unreadable
    one without places             any                                       as if there were none; delete it where
                                                                             the group keeps its own conditions
    Reservation being deleted      any                                       wait for its end
    Reservation for fewer than     not started, none bound                   delete it
      minMember, which was raised
    Reservation with victims       waiting, some victims are there           evict those, wait (`preemption`)
    Reservation (`commit`) OPEN    seated ones gated                         nominate, then un-gate each
                           DONE    enough seated ones bound                  say Scheduled, delete it
                           UNDO    too few seen bound for 4 s                evict them, delete it (delete
                                                                             those whose eviction was refused)
                           VOID    none bound; expired, or places lost       delete it
    none                           any, and the group is over (`endings`)    say so; evict those it releases
    none                           started, fewer than minMember left, and   evict those, and say that it is over
                                   the group wants to restart, or release    where it releases
    none                           started, none waits                       say Scheduled
    none                           started, some wait                        quest for them, each alone
    none                           not started, some bound                   wait; 4 s after the first was seen so:
                                                                             evict them
    none                           not started, fewer than minMember         say GangWaiting "1/2 pods present"
    none                           not started, enough                       quest for all that wait, together
    any                            a leader that starts before its group,    un-gate it (`leaders`)
                                   without GPUs
    none                           one with GPUs                             quest for it alone

A quest waits for the group's queue, where it has one, with QuotaExceeded, QueuedBehind or NoSuchQueue (`queueing`);
then it ends (`asking`) in: record the Reservation; ask the extender; hold; or say GangUnplaceable. Its members need
minMember places together (less one for each that has succeeded), or 1 where each comes alone. A group is started
when minMember of its members were bound together, and until none of them is on a node or has succeeded: so a member
that finishes, fails or is replaced never harms the others, and a group that lost all members starts as a whole again.
Leaders that start at another time than their group are no members in all this, and minMember is less by those of them
that it counts: `Gang.minimum`.
"""

import math
from dataclasses import replace
from typing import Final

from gpuyard.verdicts import SCHEDULED
from gpuyard.writes import Write
from gpuyard_operator.deciding import actions, admission, preemption, reasons, reserved, status, undoing
from gpuyard_operator.deciding.admission import Queued
from gpuyard_operator.deciding.asking import Ask, Hold, Quest, Record, Refused
from gpuyard_operator.deciding.gang import Gang, members_of
from gpuyard_operator.deciding.status import Verdict
from gpuyard_operator.deciding.view import Decision, View
from gpuyard_operator.objects import groups

REFRESH_SECONDS: Final = 5.0
"""What a gang without room is told is not written more often, however often it is refused, while the reason stays."""


def reconcile(view: View, now: float) -> Decision:
    """The decision by the table above."""
    if preemption.is_alone(view):
        return preemption.alone(view, now)
    group = groups.read(view.group, view.record)
    if group is None or group.terminating:
        return Decision(actions.withdraw(members_of(view.pods)))
    gang = Gang.of(group, view.pods, now)
    by, contested = view.preemption.preemptor, view.contested
    return _decide(replace(gang, preempted_by=by, contested=contested), view)


def _decide(gang: Gang, view: View) -> Decision:
    if view.reservation is not None:
        return _with(actions.let_go(gang.ahead), reserved.decide(gang, view, view.reservation))
    stale = actions.withdraw(gang.members)
    if view.record is not None and (gang.group.keeps_conditions or gang.group.record is None):
        stale += (actions.unreserve(gang.group, view.record),)
    decision = _with(actions.let_go(gang.ahead) + stale, _unreserved(gang, view))
    moments = [moment for moment in (decision.requeue_at, gang.due) if moment is not None]
    return replace(decision, requeue_at=min(moments, default=None))


def _with(writes: tuple[Write, ...], decision: Decision) -> Decision:
    return replace(decision, writes=writes + decision.writes)


def _unreserved(gang: Gang, view: View) -> Decision:
    group, quest, over = gang.group, gang.quest(), gang.over()
    if over is not None:
        return undoing.end(gang, over)
    if quest is not None:
        return _pursue(gang, quest, view)
    if gang.started():
        if gang.left < gang.minimum and group.below == groups.RESTART:
            return undoing.restart(gang)
        if gang.left < gang.minimum and group.below == groups.RELEASE:
            return undoing.release(gang, view)
        return Decision(gang.report(gang.scheduled(group.fault)))
    if gang.count("holding"):
        return undoing.stranded(gang, view)
    verdict = gang.waiting()
    says = f"waits: {verdict.message}" if gang.members else ""
    return Decision(gang.report(verdict), gang.leader_due, says=says)


def _pursue(gang: Gang, quest: Quest, view: View) -> Decision:
    started = gang.started()
    match admission.pursue(quest, view.admission, view.known, gang.now):
        case Queued() as queued:
            return _queued(gang, queued)
        case Record(reservation):
            says = "reserves " + ", ".join(f"{seat.name} on {seat.node}" for seat in reservation.seats)
            return Decision((actions.reserve(reservation, gang.group),), says=says)
        case Ask(request):
            says = f"asks for places for {len(request.members)} members"
            verdict = _unknown(gang, started, "")
            # The answer comes at once, and the status with it: one write instead of two.
            return Decision(gang.report(verdict) if verdict else (), ask=request, says=says)
        case Hold(until, detail):
            return Decision(gang.report(_unknown(gang, started, detail)), until)
        case Refused() as refused:
            return _refused(gang, quest, refused, view)


def _refused(gang: Gang, quest: Quest, refused: Refused, view: View) -> Decision:
    answer, started = refused.answer, gang.started()
    verdict = gang.scheduled(reasons.misfit(answer)) if started else reasons.unplaceable(answer)
    if view.admission is not None:
        verdict = replace(verdict, in_line=not started and admission.stands_in_line(answer))
    told, again = _seldom(gang, verdict, view)
    if view.known.outdated and {*refused.asked.members} <= {member.uid for member in quest.waiting}:
        return Decision(ask=refused.asked, retells=True)
    return Decision(gang.report(told), min(refused.until, again), says=verdict.message)


def _seldom(gang: Gang, verdict: Verdict, view: View) -> tuple[Verdict, float]:
    """What to tell now, and when to look again: other numbers or causes of the same reason can wait a little."""
    said, due = gang.group.condition(SCHEDULED), view.told_at + REFRESH_SECONDS
    nothing_yet = (verdict.message, gang.scheduled().message)
    if gang.now >= due or said.get("reason") != verdict.reason or said.get("message") in nothing_yet:
        return verdict, math.inf
    return replace(verdict, message=str(said.get("message"))), due


def _queued(gang: Gang, queued: Queued) -> Decision:
    """Its gates stay, so that no autoscaler takes it for work that lacks a node."""
    refusal = queued.refusal
    verdict = gang.scheduled(refusal.detail) if gang.started() else reasons.queued(refusal)
    told = queued.told or not gang.group.condition(SCHEDULED)
    says = f"waits for its queue: {refusal.reason}"
    return Decision(gang.report(verdict if told else None), queued.until, says=says)


def _unknown(gang: Gang, started: bool, detail: str) -> Verdict | None:
    """While there is no verdict the last one stands, unless it is wrong or there is something to tell."""
    if status.is_true(gang.group, SCHEDULED) == started and not detail:
        return None
    return gang.scheduled(detail) if started else gang.waiting(detail)
