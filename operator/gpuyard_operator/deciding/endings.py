"""Ends of a pod group that neither finished nor failed by its pods, for owners and people to act on.

Stands for the deactivation of a Workload in Kueue. Annotations of the PodGroup choose them:

    annotation                               it ends when                                        reason
    gpuyard.io/schedule-deadline-seconds: N  it was not scheduled for N s since it came, or      DeadlineExceeded
                                             since it had lost all its members
    gpuyard.io/below-minimum: release        it had started, and fewer than minMember are left   GangReleased
                                             for 2 s after the last one was told to go

Law: an end is said in the status before anything is done about it, with the phase Failed. From then on nobody of the
group starts: pods that its owner creates again stay gated, so no loop of evictions comes of it. It is over while the
annotation says so: whoever takes the annotation away, or gives it more time, lets the group go on.
"""

from collections.abc import Sequence
from typing import Final

from gpuyard.verdicts import EXPIRED, RELEASED, SCHEDULED
from gpuyard_kube.timestamps import seconds
from gpuyard_operator.deciding.commit import Seen
from gpuyard_operator.deciding.status import Verdict
from gpuyard_operator.objects.groups import RELEASE, Group
from gpuyard_operator.objects.members import Member

LEAVING_SECONDS: Final = 2.0
"""How long after a member was told to go others are expected to be told so too."""


def over(group: Group, now: float, *, started: bool) -> Verdict | None:
    """Why nobody of the group starts any more; None when it has not come to an end."""
    said = group.condition(SCHEDULED)
    if group.below == RELEASE and said.get("reason") == RELEASED:
        return _end(RELEASED, str(said.get("message", "")))
    at = due(group)
    if started or at is None or now < at:
        return None
    if said.get("reason") == EXPIRED:
        return _end(EXPIRED, str(said.get("message", "")))
    last = f"; at last: {said['message']}" if said.get("message") else ""
    return _end(EXPIRED, f"not scheduled within {group.deadline_seconds} s{last}")


def due(group: Group) -> float | None:
    """When a group that has not started is over; None where it may wait for ever."""
    said = group.condition(SCHEDULED)
    if not group.deadline_seconds or said.get("status") == "True":
        return None
    since = seconds(said.get("lastTransitionTime"))
    return (group.created_at if since is None else since) + group.deadline_seconds


def settled(members: Sequence[Member], leaving: Seen, now: float) -> float:
    """When it is plain how many are left; `leaving`: since when members are known to go.

    Whoever deletes one may be about to delete all, as a Job does that is suspended: that is no end.
    """
    moments = (leaving.get(member.uid, now) + LEAVING_SECONDS for member in members if member.terminating)
    return max(moments, default=now)


def released(left: int, needed: int) -> Verdict:
    """It gives up what is left of it."""
    return _end(RELEASED, f"{left} of {needed} members were left")


def _end(reason: str, message: str) -> Verdict:
    return Verdict(False, reason, message, in_line=False, final=True)
