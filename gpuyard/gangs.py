"""Places for all members of a gang, or for none: a fold over placement.

Stands for the coscheduling plugin's PodGroup logic. Law: each member sees the members before it as placed; the first
one without a feasible node ends the plan, and nothing is left behind.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from gpuyard import placement, scoring
from gpuyard.cluster import Cluster, Placement
from gpuyard.fit import PodFit
from gpuyard.policies.candidates import Policy
from gpuyard.requests import PodRequest
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
    trial, refused = cluster, list[GangRejection]()

    def place(member: Member) -> Placement | None:
        nonlocal trial
        found = _best(member, trial, policy)
        if isinstance(found, GangRejection):
            refused.append(found)
            return None
        trial = trial.with_placement(found)
        return found

    # Nothing to undo: the trial is a value, and is dropped.
    placements = all_or_none(members, place, lambda _placement: None)
    return refused[0] if placements is None else placements


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
    detail = "all {} members need {} {}, all nodes have {}"
    return tuple(
        Rejection("", Reason.INSUFFICIENT_GPUS, detail.format(len(members), need, resource, offers[resource]))
        for resource, need in sorted(needs.items())
        if need > offers[resource]
    )


def _best(member: Member, cluster: Cluster, policy: Policy) -> Placement | GangRejection:
    nodes = [node for _, node in sorted(cluster.nodes.items())]
    verdicts = [placement.judge(member.fit, member.request, node) for node in nodes]
    feasible = [
        (node, found) for node, found in zip(nodes, verdicts, strict=True) if isinstance(found, Placement)
    ]
    if not feasible:
        rejections = tuple(found for found in verdicts if isinstance(found, Rejection))
        return GangRejection(member.request.name, rejections)
    scores = policy(scoring.of_nodes(member.request, member.fit.requests, [node for node, _ in feasible]))
    preferences = np.array([scoring.preference(member.fit, member.request, node) for node, _ in feasible])
    ranks = scoring.rank(np.arange(len(feasible)), scores, preferences)
    return feasible[int(ranks.argmax())][1]
