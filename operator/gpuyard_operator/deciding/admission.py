"""What a queue says to one of its groups, and what the group may do by that.

Stands for the conditions QuotaReserved and Admitted of Kueue. Law: the quest of a group is cut down to the members
that its queue lets in, before the extender is asked and again before its answer is recorded.
"""

from dataclasses import dataclass, replace

from gpuyard.groups.plans import Unplaceable
from gpuyard.verdicts import Rejection
from gpuyard_operator.deciding import post_filter
from gpuyard_operator.deciding.asking import Known, Outcome, Quest
from gpuyard_operator.room.queueing_hints import may_pass


@dataclass(frozen=True, slots=True)
class Admission:
    """What a queue says to a group: `members`, by UID, are let in, or none for the reason of `refusal`."""

    members: frozenset[str] = frozenset()
    refusal: Rejection | None = None
    until: float | None = None
    """When the one that is in the way is so no more, at the latest."""
    passing: bool = False
    """The one that is in the way has not been refused: it is about to start."""


@dataclass(frozen=True, slots=True)
class Queued:
    """The queue does not let the group in; `told` is whether people are to know."""

    refusal: Rejection
    until: float | None
    told: bool


def pursue(quest: Quest, admission: Admission | None, known: Known, now: float) -> Outcome | Queued:
    """`post_filter.pursue`, as far as the group's queue lets it; without a queue nothing is in the way."""
    if admission is None:
        return post_filter.pursue(quest, known, now)
    if admission.refusal is not None:
        return Queued(admission.refusal, admission.until, told=not admission.passing)
    waiting = tuple(member for member in quest.waiting if member.uid in admission.members)
    return post_filter.pursue(replace(quest, waiting=waiting), known, now)


def stands_in_line(answer: Unplaceable) -> bool:
    """Whether the end of others might make room: then nobody behind the group may take it."""
    return may_pass(answer) and all(found.node for found in answer.rejections)
