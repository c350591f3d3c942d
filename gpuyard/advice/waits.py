"""Whose end would make pods fit that do not.

Stands for what people look up with `kubectl get pods` sorted by node. Laws: the pods that are named hold, between
them, what is missing, by concrete devices; on each node as few end as `preemption` finds; those that are on their way
out go first. Only so many nodes and pods are looked at: None does not mean that nobody's end would do.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Final

from gpuyard.advice import simulation
from gpuyard.advice.simulation import Outcome, Unit
from gpuyard.groups.gangs import Member
from gpuyard.placing import placement
from gpuyard.placing.cluster import Cluster, Node, Placement
from gpuyard.placing.trials import Trial
from gpuyard.pods import fit
from gpuyard.policies.candidates import Policy
from gpuyard.preempting import preemption
from gpuyard.preempting.preemption import Preemptor
from gpuyard.preempting.stakes import Candidate, Stakes

_NODES: Final = 12
"""Nodes that are looked at for one pod, those with the fewest devices in use first."""
_MEMBERS: Final = 64
_ANYBODY: Final = 2**31 - 1
"""More than any pod's priority: it is asked who may end, not who may be made to."""

Held = Callable[[str], Sequence[Candidate]]
"""The pods that are bound to a node, by its name."""


def shortest(outcome: Outcome, policy: Policy, held: Held) -> tuple[str, ...] | None:
    """UIDs of the pods after whose end all of the unit fits."""
    if len(outcome.failed) > _MEMBERS:
        return None
    ended = _ended(outcome, policy, held)
    freed = outcome.before
    for candidate in ended:
        freed = freed.without(candidate.placement)
    whole = dataclasses.replace(outcome.unit, together=True)
    would_do = bool(ended) and simulation.place(whole, freed, policy).fits
    return tuple(sorted(found.placement.uid for found in ended)) if would_do else None


def _ended(outcome: Outcome, policy: Policy, held: Held) -> list[Candidate]:
    """Those who end if one pod without a place after the other gets the cheapest; nobody where one gets none."""
    cluster, ended = outcome.after, list[Candidate]()
    if outcome.unit.together:
        first = Unit("", outcome.unit.members[: outcome.reached], together=True)
        cluster = simulation.place(first, outcome.before, policy).after
    trial = Trial(cluster)
    for member in outcome.failed:
        if trial.place(member.fit, member.request, policy):
            continue
        best = _cheapest(member, trial.cluster(), held, ended)
        if best is None:
            return []
        node, more = best
        ended += more
        trial.put(_taken(member, _without(node, more)))
    return ended


def _cheapest(
    member: Member, cluster: Cluster, held: Held, ended: Sequence[Candidate]
) -> tuple[Node, list[Candidate]] | None:
    """The node on which the fewest have to end for this pod, and who."""

    def fits(node: Node) -> bool:
        return isinstance(placement.judge(member.fit, member.request, node), Placement)

    preemptor = Preemptor(_ANYBODY, member.fit.requests, fits)
    best: tuple[Node, list[Candidate]] | None = None
    gone = {found.placement.uid for found in ended}
    looked_at = 0
    for node in _hopeful(member, cluster):
        candidates = [found for found in held(node.name) if found.placement.uid not in gone]
        looked_at += bool(candidates)
        if looked_at > _NODES:
            break
        victims = preemption.choose(preemptor, node, candidates, Stakes())
        if victims is not None and (best is None or len(victims.uids) < len(best[1])):
            best = node, [found for found in candidates if found.placement.uid in victims.uids]
    return best


def _hopeful(member: Member, cluster: Cluster) -> list[Node]:
    """The nodes that the pod is meant for and that have what it needs, free or not; the freest first, by count."""
    totals = member.request.totals
    able = [
        node
        for _, node in sorted(cluster.nodes.items())
        if all(node.fit.allocatable.get(resource, 0) >= count for resource, count in totals.items())
        and fit.misplaced(member.fit, node.fit) is None
    ]
    return sorted(able, key=lambda node: sum(node.used.get(resource, 0) for resource in totals))


def _without(node: Node, ended: Sequence[Candidate]) -> Node:
    return node.releasing(*(found.placement for found in ended))


def _taken(member: Member, node: Node) -> Node:
    verdict = placement.judge(member.fit, member.request, node)
    return node.taking(verdict) if isinstance(verdict, Placement) else node
