"""When to ask the extender for places, for whom, and what its answers are still worth.

    what is known                                     outcome
    an answer "planned" that still fits the members   Record it
    the same question was put less than 0.5 s ago     Hold (longer and longer while there is no verdict)
    members left out by answers that are still fresh  Ask for the others, while they are enough
    too few are left, or TRIES were in vain           Refused, until the cluster changes or 30 s have passed
    otherwise                                         Ask for all waiting members at once

An answer "unplaceable" is fresh until the cluster changes so that the group may have room (`unschedulable`), or
RETRY_SECONDS pass; one given within SETTLE_SECONDS of a change only until then, for the extender may lag. No answer
is worth anything once the group wishes to be placed otherwise.
A group that has more members than it needs starts with those that fit. Members are placed in order, so all before the
one that the answer names do fit: when these are enough, the others are left out of the next question, else it alone.
Without its head (`roles`) no group starts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from gpuyard.groups.plans import PlanAnswer, Planned, PlanRequest, Unplaceable, Unready
from gpuyard.groups.reservations import Reservation
from gpuyard_operator.deciding.commit import LEAST_SECONDS
from gpuyard_operator.objects.groups import Group
from gpuyard_operator.objects.members import Member
from gpuyard_operator.room.queueing_hints import Opening

AGAIN_SECONDS = 0.5
"""The same question is not put twice within this time, whatever happens in the cluster."""
LONGEST_SECONDS = 8.0
"""An extender that gives no verdict is asked again after 0.5, 1, 2, 4, 8, 8, ... seconds."""
SETTLE_SECONDS = 2.0
"""How far the extender may lag behind us in seeing the cluster."""
TRIES = 8
"""So many questions at most, each without the members that the one before refused, while the cluster is as it is."""
RETRY_SECONDS = 30.0
"""An answer "unplaceable" is not believed for longer: some change may have gone unseen."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A question with its answer. `change` counts the openings when it was asked, `at` is when it came."""

    request: PlanRequest
    answer: PlanAnswer
    change: int
    at: float
    retold: bool = False
    """It was asked for its numbers alone: nobody waits before the same is asked for room."""


@dataclass(frozen=True, slots=True)
class Known:
    """The answers so far, in the order in which they came, and the last change that may have made room for it."""

    answers: tuple[Answered, ...] = ()
    opened: Opening = Opening()
    lowest: int | None = None
    """The lowest priority of a pod on a node; None where nobody is to be evicted."""
    outdated: bool = False
    """Whether it is to ask for the numbers of its refusal, which are true no more."""

    def fresh_until(self, found: Answered) -> float:
        """How long to believe an answer."""
        if found.change < self.opened.count:
            return found.at
        settled = self.opened.at + SETTLE_SECONDS
        return found.at + RETRY_SECONDS if found.at >= settled else max(settled, found.at + AGAIN_SECONDS)


@dataclass(frozen=True, slots=True)
class Record:
    """Places were found: write them down."""

    reservation: Reservation


@dataclass(frozen=True, slots=True)
class Ask:
    """Put this question."""

    request: PlanRequest


@dataclass(frozen=True, slots=True)
class Hold:
    """Put the question at `until`. `detail` says why there is no verdict; empty where none was asked for."""

    until: float
    detail: str


@dataclass(frozen=True, slots=True)
class Refused:
    """There is no room; look again at `until`. `asked`: what was `answer`ed so."""

    answer: Unplaceable
    until: float
    asked: PlanRequest


Outcome = Record | Ask | Hold | Refused


@dataclass(frozen=True, slots=True)
class Quest:
    """Waiting members of a group that need places, in the order in which they are to be placed.

    `needed` of them must be bound together: minMember, less the members that have succeeded, for a group that has
    not started; 1 for one that has, because each late or replaced member joins alone.
    """

    group: Group
    waiting: tuple[Member, ...]
    needed: int


def pursue(quest: Quest, known: Known, now: float) -> Outcome:
    """What to do next, by the table above."""
    if (reservation := usable(quest, known, now)) is not None:
        return Record(reservation)
    wish = quest.group.nearness
    answers = [found for found in known.answers if found.request.nearness == wish]
    fresh = [found for found in answers if now < known.fresh_until(found)]
    last = {found.request: found for found in fresh if not isinstance(found.answer, Unready)}.values()
    refusals = [(found, found.answer) for found in last if isinstance(found.answer, Unplaceable)]
    refusals = [(found, answer) for found, answer in refusals if not found.request.preempt]
    left_out = {uid for found, answer in refusals for uid in _refused(quest, found.request, answer)}
    uids = tuple(member.uid for member in quest.waiting if member.uid not in left_out)
    if refusals and (len(uids) < quest.needed or len(refusals) >= TRIES):
        first, answer = refusals[0]
        until = min(known.fresh_until(found) for found, _ in refusals)
        return Refused(answer, until, first.request)
    return pace(request(quest, uids), known.answers, now)


def request(quest: Quest, uids: tuple[str, ...], *, preempt: bool = False) -> PlanRequest:
    """The question for places for these members."""
    group = quest.group
    return PlanRequest(group.namespace, group.name, quest.needed, uids, preempt, group.nearness)


def pace(question: PlanRequest, answers: Sequence[Answered], now: float) -> Ask | Hold:
    """Put the question, unless it was put just now."""
    put = (found for found in reversed(answers) if found.request == question)
    last = next((found for found in put if not found.retold or isinstance(found.answer, Unready)), None)
    if last is None:
        return Ask(question)
    again_at = last.at + _pause(answers)
    detail = last.answer.detail if isinstance(last.answer, Unready) else ""
    return Ask(question) if now >= again_at else Hold(again_at, detail)


def _pause(answers: Sequence[Answered]) -> float:
    in_vain = takewhile(lambda found: isinstance(found.answer, Unready), reversed(answers))
    return min(AGAIN_SECONDS * (1 << max(0, len(list(in_vain)) - 1)), LONGEST_SECONDS)


def usable(quest: Quest, known: Known, now: float) -> Reservation | None:
    """The planned places, while they are for exactly the members asked for, who all still wait for them."""
    last = known.answers[-1] if known.answers else None
    if last is None or not isinstance(last.answer, Planned):
        return None
    found = last.answer.reservation
    seats = {seat.uid for seat in found.seats}
    all_wait = seats <= {member.uid for member in quest.waiting}
    asked = replace(last.request, needed=quest.needed, nearness=quest.group.nearness)
    if not all_wait or seats != set(last.request.members) or last.request != asked:
        return None
    if now >= max(found.expires, last.at + LEAST_SECONDS):
        return None
    return replace(found, namespace=quest.group.namespace, group=quest.group.name, needed=quest.needed)


def _refused(quest: Quest, request: PlanRequest, answer: Unplaceable) -> Sequence[str]:
    """The UIDs to leave out because of an answer; all that were asked for when it names none of them."""
    named = {member.uid: member for member in quest.waiting if member.name == answer.member}
    position = next((i for i, uid in enumerate(request.members) if uid in named), None)
    if position is None or (named[request.members[position]].role.heads and quest.needed > 1):
        return request.members
    return (
        request.members[position:] if position >= quest.needed else request.members[position : position + 1]
    )
