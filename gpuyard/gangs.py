"""Places for all members of a gang, or for none: a fold over placement.

Stands for the coscheduling plugin's PodGroup logic. Law: each member sees the members before it as placed; the first
one without a feasible node ends the plan, and nothing is left behind.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuyard import placement, scoring
from gpuyard.cluster import Cluster, Placement
from gpuyard.fit import PodFit
from gpuyard.policies.candidates import Policy
from gpuyard.requests import PodRequest
from gpuyard.verdicts import Reason, Rejection


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
    placements: list[Placement] = []
    for member in members:
        found = _best(member, cluster, policy)
        if isinstance(found, GangRejection):
            return found
        placements.append(found)
        cluster = cluster.with_placement(found)
    return tuple(placements)


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
