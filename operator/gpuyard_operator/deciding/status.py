"""The status of a PodGroup, computed from its pods each time; written only when it differs.

Stands for the PodGroup controller of scheduler-plugins, without the oddities of its phases:

    phase       when (first match)
    (kept)      no pods are left of a group that was Finished or Failed
    Failed      the group is over (`endings`)
    Finished    no live member, minMember succeeded; or it was Finished; or all that is left of a started group did
    Failed      no live member, some failed of themselves; or it was Failed
    Running     minMember run or have succeeded; or it was Running and has a member on a node
    Scheduling  minMember are present
    Pending     otherwise

Two conditions say what a phase cannot: `Scheduled` (were minMember members bound together?) stays true while any of
them is on a node or has succeeded; `Ready` (do minMember run or have they succeeded?) follows the pods. A third one,
`Preempted`, is there once its pods had to go for others, and true until the group is scheduled again. `Admitted` (are
places recorded for it?) and `Unschedulable` (was there no room when last asked?) follow from what `Scheduled` says.

`scheduleStartTime` is kept for groups with a queue: since when it was refused for want of room that others may make.

Where the PodGroup's definition is of scheduler-plugins itself the API server drops the conditions. Then those of the
group's Reservation say all this; it stays while the group does, mostly without places. Either way events about the
PodGroup tell each new reason of Scheduled.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gpuyard.verdicts import SCHEDULED, Reason
from gpuyard.writes import JSON
from gpuyard_kube.timestamps import rfc3339
from gpuyard_operator.objects.groups import Group
from gpuyard_operator.objects.members import Member

READY, PREEMPTED, PREEMPTING = "Ready", "Preempted", "Preempting"
ADMITTED, UNSCHEDULABLE = "Admitted", "Unschedulable"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the condition Scheduled says: whether, the reason code, and a sentence for people."""

    scheduled: bool
    reason: str
    message: str
    in_line: bool | None = None
    """Whether it waits for room before others of its queue: since when, the status remembers. None: as it did."""
    admitted: bool = False
    """Whether places are recorded for it, which its members are about to get."""
    final: bool = False
    """Whether the group is over."""


def changes(
    group: Group, members: Sequence[Member], verdict: Verdict | None, now: float, preempted_by: str = ""
) -> JSON | None:
    """The fields of the status to set; None when it says all this already. No verdict: leave Scheduled as it is."""
    if not members and group.status.get("phase") in ("Finished", "Failed"):
        return None
    counts = {
        "running": sum(member.running for member in members),
        "succeeded": sum(member.succeeded for member in members),
        "failed": sum(member.phase == "Failed" for member in members),
    }
    over = verdict is not None and verdict.final
    found: JSON = {"phase": "Failed" if over else phase(group, members), **counts}
    spoken = [_ready(group, counts["running"] + counts["succeeded"])]
    spoken += _preempted(group, verdict, preempted_by)
    if verdict is not None:
        spoken = _verdict(verdict) + spoken
    old = {"running": 0, "succeeded": 0, "failed": 0, **group.status}
    if verdict is not None and verdict.in_line is not None:
        found |= _line_time(group, verdict.in_line, now)
    told = all(_said(group, condition) for condition in spoken)
    if told and all(old.get(key) == value for key, value in found.items()):
        return None
    return {**found, "conditions": conditions(group, spoken, now)}


def _verdict(verdict: Verdict) -> list[JSON]:
    """Scheduled says why; the others are there to be waited for: they flip only together with it."""
    unplaceable = verdict.reason == Reason.GANG_UNPLACEABLE
    return [
        condition(SCHEDULED, verdict.scheduled, verdict.reason, verdict.message),
        condition(ADMITTED, verdict.scheduled or verdict.admitted, verdict.reason, ""),
        condition(UNSCHEDULABLE, unplaceable, verdict.reason, verdict.message if unplaceable else ""),
    ]


def _line_time(group: Group, in_line: bool, now: float) -> JSON:
    """scheduleStartTime, where it changes; else it is sent along with every status."""
    old = group.status.get("scheduleStartTime")
    return {} if bool(old) == in_line else {"scheduleStartTime": rfc3339(now) if in_line else None}


def phase(group: Group, members: Sequence[Member]) -> str:
    """The phase, by the table above."""
    old = group.status.get("phase")
    succeeded = sum(member.succeeded for member in members)
    if not any(member.live for member in members):
        # Whose containers fail because it was told to go, as all of a suspended Job are, has not failed.
        failed = any(member.phase == "Failed" and not member.terminating for member in members)
        ended = _ended(group, succeeded, failed)
        if ended:
            return ended
    run = succeeded + sum(member.running for member in members)
    if run >= group.min_member or (old == "Running" and any(member.holding for member in members)):
        return "Running"
    present = sum(member.present for member in members)
    return "Scheduling" if present >= group.min_member else "Pending"


def is_true(group: Group, kind: str) -> bool:
    """Whether the status says that the condition holds."""
    return group.condition(kind).get("status") == "True"


def made_room_in_vain(group: Group) -> bool:
    """Whether others went for it, and it was not bound: they would come and go for ever."""
    return group.condition(PREEMPTING).get("reason") == "InVain"


def has_started(group: Group) -> bool:
    """Whether the status remembers that minMember members were bound together."""
    running = not group.keeps_conditions and group.status.get("phase") == "Running"
    return is_true(group, SCHEDULED) or running


def _ended(group: Group, succeeded: int, failed: bool) -> str | None:
    """The terminal phase of a group without live members; None when it has not come to an end."""
    old = group.status.get("phase")
    remnant = succeeded > 0 and not failed and is_true(group, SCHEDULED)
    if succeeded >= group.min_member or old == "Finished" or remnant:
        return "Finished"
    return "Failed" if failed or old == "Failed" else None


def _ready(group: Group, good: int) -> JSON:
    ready = good >= group.min_member
    message = f"{good}/{group.min_member} members run or have succeeded"
    return condition(READY, ready, "MembersRunning" if ready else "MembersNotRunning", message)


def _preempted(group: Group, verdict: Verdict | None, by: str) -> list[JSON]:
    if by:
        return [condition(PREEMPTED, True, "HigherPriority", f"its pods make way for {by}")]
    if verdict is None or not verdict.scheduled:
        return []
    known = [kind for kind in (PREEMPTED, PREEMPTING) if group.condition(kind)]
    return [condition(kind, False, verdict.reason, "it was scheduled") for kind in known]


def condition(kind: str, holds: bool, reason: str, message: str) -> JSON:
    return {"type": kind, "status": "True" if holds else "False", "reason": reason, "message": message}


def _said(group: Group, condition: JSON) -> bool:
    old = group.condition(condition["type"])
    return all(old.get(key) == value for key, value in condition.items())


def conditions(group: Group, spoken: Sequence[JSON], now: float) -> list[JSON]:
    """All conditions: other people's and unspoken ones as they are; a time moves only when a status flips."""
    kinds = {condition["type"] for condition in spoken}
    others = [c for c in group.status.get("conditions") or () if c["type"] not in kinds]
    return others + [{**c, "lastTransitionTime": _since(group.condition(c["type"]), c, now)} for c in spoken]


def _since(old: JSON, new: JSON, now: float) -> str:
    if old.get("status") == new["status"] and old.get("lastTransitionTime"):
        return str(old["lastTransitionTime"])
    return rfc3339(now)
