"""Places for all members of a gang, or for none: a fold over placement.

Stands for the coscheduling plugin's PodGroup logic. Law: each member sees the members before it as placed; the first
one without a feasible node ends the plan, and nothing is left behind.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from gpuyard.placing.cluster import Cluster, Placement
from gpuyard.placing.trials import Trial
from gpuyard.pods.fit import PodFit
from gpuyard.pods.requests import PodRequest
from gpuyard.policies.candidates import Policy
from gpuyard.verdicts import Reason, Rejection

_Member = TypeVar("_Member")
_Place = TypeVar("_Place")


@dataclass(frozen=True, slots=True)
class Member:
    """One pod of a gang."""

    request: PodRequest
    fit: PodFit


@dataclass(frozen=True, slots=True)
class GangRejection:
    """`member`, the name of a pod, has no feasible node once those before it are placed; why, by node name."""

    member: str
    rejections: tuple[Rejection, ...]


def plan(
    members: Sequence[Member], cluster: Cluster, policy: Policy
) -> tuple[Placement, ...] | GangRejection:
    """One placement for each member, in the given order, on the nodes that `policy` likes best."""
    trial, refused = Trial(cluster), list[GangRejection]()

    def place(member: Member) -> Placement | None:
        found = member_on(trial, member, policy)
        if isinstance(found, GangRejection):
            refused.append(found)
            return None
        return found

    # Nothing to undo: the trial is dropped.
    placements = all_or_none(members, place, lambda _placement: None)
    return refused[0] if placements is None else placements


def member_on(trial: Trial, member: Member, policy: Policy) -> Placement | GangRejection:
    """The place of one member, which is taken in the trial."""
    found = trial.place(member.fit, member.request, policy)
    if found is not None:
        return found
    return GangRejection(member.request.name, trial.rejections(member.fit, member.request))


def all_or_none(
    members: Iterable[_Member], place: Callable[[_Member], _Place | None], undo: Callable[[_Place], None]
) -> tuple[_Place, ...] | None:
    """A place for each member, in the given order; the first one without a place undoes those before it."""
    placed: list[_Place] = []
    for member in members:
        found = place(member)
        if found is None:
            for each in reversed(placed):
                undo(each)
            return None
        placed.append(found)
    return tuple(placed)


def excess(members: Sequence[Member], cluster: Cluster) -> tuple[Rejection, ...]:
    """The devices of which the members ask for more than all nodes have, idle or not: they cannot ever fit."""
    needs, offers = Counter[str](), Counter[str]()
    for member in members:
        needs.update(member.request.totals)
    for node in cluster.nodes.values():
        offers.update(node.fit.allocatable)
    who = f"all {len(members)} members need" if len(members) > 1 else "it needs"
    return tuple(
        Rejection("", Reason.INSUFFICIENT_GPUS, f"{who} {need} {resource}, all nodes have {offers[resource]}")
        for resource, need in sorted(needs.items())
        if need > offers[resource]
    )
