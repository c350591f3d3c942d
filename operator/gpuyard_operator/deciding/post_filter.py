"""Whom to ask for room, when there is none: what `asking` refuses is asked for once more, at the expense of others.

Stands for the PostFilter phase of kube-scheduler. Laws: only after a refusal, only for as many members as are needed,
and only where a pod of lower priority is on a node; the answer "unplaceable" is believed as long as any other; nobody
goes again for a group for whom others went in vain.
"""

from dataclasses import replace

from gpuyard.groups.plans import Unplaceable
from gpuyard_operator.deciding import asking, status
from gpuyard_operator.deciding.asking import Ask, Hold, Known, Outcome, Quest, Record, Refused


def pursue(quest: Quest, known: Known, now: float) -> Outcome:
    """`asking.pursue`, and what a refusal leads to."""
    found = asking.pursue(quest, known, now)
    if not isinstance(found, Refused):
        return found
    match preempt(quest, known, now):
        case Ask() as ask:
            return ask
        case Hold(again_at):
            return replace(found, until=min(found.until, again_at))
    return found


def preempt(quest: Quest, known: Known, now: float) -> Record | Ask | Hold | None:
    """How as many as are needed come to places at the expense of others; None: they do not, as things are."""
    members = quest.waiting[: quest.needed]
    if (reservation := asking.usable(quest, known, now)) is not None:
        return Record(reservation)
    if status.made_room_in_vain(quest.group) or not members or known.lowest is None:
        return None
    if min(found.priority for found in members) <= known.lowest:
        return None
    request = asking.request(quest, tuple(member.uid for member in members), preempt=True)
    last = next((found for found in reversed(known.answers) if found.request == request), None)
    if last is not None and isinstance(last.answer, Unplaceable) and now < known.fresh_until(last):
        return Hold(known.fresh_until(last), "")
    return asking.pace(request, known.answers, now)
