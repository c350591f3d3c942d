"""Room for pods that fit nowhere: who would have to go, anywhere in the cluster.

Stands for what kube-scheduler's preemption does where counts are lacking, here for whole gangs and for shapes. Only
the operator evicts: the answer to its question names the victims. Laws: pods that are on their way out are as good as
gone, and waited for; a gang goes as a whole; whoever says so makes way for nobody.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gpuyard.groups.reservations import Victim
from gpuyard.placing.cluster import Cluster, Placement
from gpuyard.policies.candidates import Policy
from gpuyard.preempting import clearance
from gpuyard.preempting.clearance import AtStake
from gpuyard.preempting.stakes import Candidate, Unit
from gpuyard_extender import eviction_candidates
from gpuyard_extender.groups import placeable
from gpuyard_extender.ledger import Ledger
from gpuyard_extender.pods import Pod

MOST_SECONDS: Final = 24 * 3600
"""For so long places are held for victims that take their time, then asked for anew: pods may say 2^63-1 s."""
_Held = Sequence[tuple[Pod, Placement]]


@dataclass(frozen=True, slots=True)
class Room:
    """The places of the pods once the `victims` are gone, some of which may be on their way, within `seconds`."""

    placements: tuple[Placement, ...]
    victims: tuple[Victim, ...]
    seconds: int


def choose_victims(pods: Sequence[Pod], ledger: Ledger, policy: Policy, now: float) -> Room | None:
    """The cheapest way to have places for all these pods; None where there is none, or they want nobody to go."""
    members = placeable(pods)
    if len(members) < len(pods) or not all(pod.preempts for pod in pods):
        return None
    cluster = ledger.cluster(now, {pod.uid for pod in pods})
    held = [found for name in cluster.nodes for found in eviction_candidates.held(name, ledger)]
    staying = [found for found in held if not found[0].terminating]
    leaving = [found for found in held if found[0].terminating]
    units = list(_units(staying, {eviction_candidates.gang_of(pod) for pod in pods}, ledger))
    at_stake = AtStake(
        min(pod.priority for pod in pods),
        units,
        eviction_candidates.stakes([pod for pod, _ in staying], ledger),
    )
    found = clearance.make_room(members, _without(leaving, pods, cluster, ledger), policy, at_stake)
    if found is None:
        return None
    nodes = {placed.node for placed in found.placements}
    awaited = [pod for pod, placed in leaving if placed.node in nodes]
    awaited += [pod for pod, _ in staying if pod.uid in found.victims]
    awaited.sort(key=lambda pod: (pod.namespace, pod.group or "", pod.name))
    victims = tuple(Victim(pod.uid, pod.namespace, pod.name, pod.group or "") for pod in awaited)
    seconds = max((pod.grace_seconds for pod in awaited), default=0)
    return Room(found.placements, victims, min(seconds, MOST_SECONDS))


def _units(staying: _Held, own: set[str], ledger: Ledger) -> Iterator[Unit]:
    """Pods one by one, and gangs that need several members as a whole."""
    gangs: dict[str, list[tuple[Pod, Candidate]]] = {}
    for pod, placement in staying:
        found, group = eviction_candidates.candidate(pod, placement, ledger), _whole(pod, ledger)
        if group:
            gangs.setdefault(group, []).append((pod, found))
        elif not pod.spared:
            yield (found,)
    for name, members in gangs.items():
        if name not in own and not any(pod.spared for pod, _ in members):
            yield tuple(found for _, found in members)


def _whole(pod: Pod, ledger: Ledger) -> str:
    """The gang that breaks without the pod; empty where each member stands alone."""
    group = ledger.groups.named(pod.namespace, pod.group) if pod.group else None
    return eviction_candidates.gang_of(pod) if group is not None and group.needed > 1 else ""


def _without(leaving: _Held, pods: Sequence[Pod], cluster: Cluster, ledger: Ledger) -> Cluster:
    """The cluster once these are gone, and those have come for whom kube-scheduler makes place already."""
    nodes = dict(cluster.nodes)
    for _, placement in leaving:
        nodes[placement.node] = nodes[placement.node].releasing(placement)
    priority, besides = min(pod.priority for pod in pods), {pod.uid for pod in pods}
    for name, expected in eviction_candidates.nominated(priority, besides, ledger).items():
        if name in nodes:
            nodes[name] = eviction_candidates.with_nominated(nodes[name], expected)
    return replace(cluster, nodes=nodes)
