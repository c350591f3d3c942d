"""What the condition Scheduled tells people: why a gang does not run, with names and numbers.

The reason codes are those of `gpuyard.verdicts`, and three of the way to success that are no rejections.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from gpuyard import vocabulary
from gpuyard.groups.plans import Unplaceable
from gpuyard.groups.reservations import Victim
from gpuyard.narration import few
from gpuyard.verdicts import EXPIRED, RELEASED, Reason, Rejection
from gpuyard.verdicts import SCHEDULED as KIND
from gpuyard.writes import JSON
from gpuyard_kube.recording import Told
from gpuyard_operator.deciding.status import Verdict
from gpuyard_operator.objects.groups import Group
from gpuyard_operator.objects.members import Member

STARTING, PREEMPTING, SCHEDULED = "GangStarting", "GangPreempting", "GangScheduled"
BAD = (Reason.GANG_UNPLACEABLE, Reason.INVALID_REQUEST, Reason.NO_SUCH_QUEUE, EXPIRED, RELEASED)
"""What somebody has to see to."""
PASSING = (Reason.GANG_WAITING, Reason.QUEUED_BEHIND, STARTING)
"""What a gang may say within a second while it starts as it should."""
NODES_NAMED = 5
"""A message names so many nodes; the others are counted."""


def waiting(group: Group, members: Sequence[Member], detail: str = "", others: Sequence[str] = ()) -> Verdict:
    """See `Gang.waiting`. `others`: what to say of pods that are no members."""
    if group.fault:
        return Verdict(False, Reason.INVALID_REQUEST.value, group.fault)
    present = sum(member.present for member in members)
    held = sum(member.live and member.held for member in members)
    parts = [f"{present}/{group.min_member} pods present"]
    if held:
        parts.append(f"{held} more held by scheduling gates of others")
    parts.extend(others)
    if detail:
        parts.append(f"no verdict yet: {detail}")
    return Verdict(False, Reason.GANG_WAITING.value, "; ".join(parts))


def others(natives: int, contested: Mapping[str, int]) -> list[str]:
    """Which pods a group might be expected to have, and has not."""
    found = [f"{natives} more left to kube-scheduler by their spec.schedulingGroup"] if natives else []
    if contested:
        count, owners = sum(contested.values()), few(sorted(contested))
        pods = "1 pod is" if count == 1 else f"{count} pods are"
        found.append(f"{pods} claimed by another group too: {owners}")
    return found


def divided(members: Sequence[Member]) -> str:
    """What to add where members that wait name several schedulers: each binds its own, and waits for nobody."""
    found = Counter(member.scheduler for member in members if member.live)
    named = ", ".join(f"{name} ({count})" for name, count in sorted(found.items()))
    return f"; its pods are of several schedulers: {named}" if len(found) > 1 else ""


def unplaceable(answer: Unplaceable) -> Verdict:
    """The gang does not fit: the first member without a node, and why not on each node."""
    return Verdict(False, Reason.GANG_UNPLACEABLE.value, misfit(answer))


def queued(refusal: Rejection) -> Verdict:
    """Its queue does not let it in. Behind others it keeps the time of its turn; without quota it has none."""
    in_line = None if refusal.reason is Reason.QUEUED_BEHIND else False
    return Verdict(False, refusal.reason.value, refusal.detail, in_line)


def starting(places: int) -> Verdict:
    """A Reservation holds the places, and the members are being bound."""
    return Verdict(False, STARTING, f"places for {places} members are reserved", in_line=False, admitted=True)


def preempting(names: str) -> Verdict:
    """A Reservation holds the places, once those who hold them now are gone."""
    message = f"pods of lower priority have to go first: {names}"
    return Verdict(False, PREEMPTING, message, in_line=False, admitted=True)


def scheduled(needed: int, late: str = "") -> Verdict:
    """See `Gang.scheduled`."""
    message = f"{needed} or more members were bound"
    return Verdict(True, SCHEDULED, f"{message}; {late}" if late else message)


def misfit(answer: Unplaceable) -> str:
    """`pod "b" does not fit: node-1: InsufficientGPUs (needs 4 GPUs, 2 free of 8); and 3 more nodes`."""
    parts = [_text(found) for found in named(answer)]
    if len(answer.rejections) > NODES_NAMED:
        parts.append(f"and {len(answer.rejections) - NODES_NAMED} more nodes")
    return f'pod "{answer.member}" does not fit: ' + ("; ".join(parts) or "there is no node")


def named(answer: Unplaceable) -> list[Rejection]:
    """Those with which people are told why."""
    return sorted(answer.rejections, key=lambda found: found.node)[:NODES_NAMED]


def _text(rejection: Rejection) -> str:
    why = f"{rejection.reason.value} ({rejection.detail})" if rejection.detail else rejection.reason.value
    return f"{rejection.node}: {why}" if rejection.node else why


def news(group: Group | None) -> Told | None:
    """The condition Scheduled of a group as an event about it; None where it says nothing of use."""
    found = group.condition(KIND) if group else {}
    if group is None or not found.get("reason"):
        return None
    of, reason = about(vocabulary.POD_GROUP_API, "PodGroup", group), str(found["reason"])
    return Told(of, reason, str(found.get("message", "")), warning=reason in BAD)


def about(api: str, kind: str, named: Group | Member | Victim) -> JSON:
    """The object that an event is about."""
    metadata = {"namespace": named.namespace, "name": named.name, "uid": named.uid}
    return {"apiVersion": api, "kind": kind, "metadata": metadata}
