"""Room for pods that fit nowhere: who would have to go, anywhere in the cluster.

Stands for what kube-scheduler's preemption does where counts are lacking, here for whole gangs and for shapes. Only
the operator evicts: the answer to its question names the victims. Laws: pods that are on their way out are as good as
gone, and waited for; a gang goes as a whole; whoever says so makes way for nobody. The choice looks at nothing that
changes, so that it may be made in another thread.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gpuyard.groups.reservations import Victim
from gpuyard.placing.cluster import Cluster, Placement
from gpuyard.policies.candidates import Policy
from gpuyard.preempting import clearance
from gpuyard.preempting.clearance import AtStake
from gpuyard.preempting.stakes import Candidate, Stakes, Unit
from gpuyard_extender.deciding import eviction_candidates
from gpuyard_extender.deciding.eviction_candidates import gang_of, placement_of
from gpuyard_extender.ledger.budgets import Budget
from gpuyard_extender.ledger.claims import Claim
from gpuyard_extender.ledger.groups import placeable
from gpuyard_extender.ledger.ledger import Ledger
from gpuyard_extender.ledger.pods import Pod

MOST_SECONDS: Final = 24 * 3600
"""For so long places are held for victims that take their time, then asked for anew: pods may say 2^63-1 s."""
_Held = Sequence[tuple[Pod, Placement]]


def expected(pods: Sequence[Pod], ledger: Ledger) -> Mapping[str, Sequence[Pod]]:
    """By node: whom kube-scheduler makes place for there, and the preemptors `pods` must not pass over."""
    least, own = min(pod.priority for pod in pods), {pod.uid for pod in pods}
    found = {
        name: eviction_candidates.nominated(name, least, own, ledger)
        for name in sorted(ledger.nominated.keys())
    }
    return {name: others for name, others in found.items() if others}


def going(pods: Sequence[Pod], ledger: Ledger) -> set[str]:
    """UIDs of those that kube-scheduler removes for others, whom `pods` must not pass over."""
    return eviction_candidates.going(min(pod.priority for pod in pods), {pod.uid for pod in pods}, ledger)


@dataclass(frozen=True, slots=True)
class Tenancy:
    """Who is on the nodes, what else is lost with them, and who is expected there (`nominated`), at one moment.

    `going`: UIDs of those that kube-scheduler was told to remove for others, who are expected in their places.
    """

    held: Sequence[tuple[Pod, Claim]]
    stakes: Stakes
    budgets: Sequence[Budget]
    nominated: Mapping[str, Sequence[Pod]]
    going: frozenset[str] = frozenset()

    @classmethod
    def of(cls, pods: Sequence[Pod], cluster: Cluster, ledger: Ledger) -> "Tenancy":
        """As the preemptors `pods` find it."""
        claim = ledger.holdings.claim
        bound = (pod for pod in ledger.pods.all() if pod.node in cluster.nodes)
        held = [(pod, found) for pod in bound if (found := claim(pod.uid)) is not None]
        before = eviction_candidates.lost_before({pod.uid for pod in pods}, ledger)
        return cls(
            held,
            eviction_candidates.stakes((pod for pod, _ in held), before, ledger),
            tuple(ledger.budgets.all()),
            expected(pods, ledger),
            frozenset(going(pods, ledger)),
        )

    def units(self, staying: _Held, own: set[str]) -> Iterator[Unit]:
        """Pods one by one, and gangs that need several members as a whole, but for the preemptors' `own`."""
        gangs: dict[str, list[tuple[Pod, Candidate]]] = {}
        for pod, placement in staying:
            found = eviction_candidates.candidate(pod, placement, self.budgets)
            gang = self.stakes.gangs.get(gang_of(pod))
            if gang is not None and gang.needed > 1:
                gangs.setdefault(gang_of(pod), []).append((pod, found))
            elif not pod.spared:
                yield (found,)
        for name, members in gangs.items():
            if name not in own and not any(pod.spared for pod, _ in members):
                yield tuple(found for _, found in members)

    def without(self, leaving: _Held, cluster: Cluster) -> Cluster:
        """The cluster once these are gone, and those have come for whom kube-scheduler makes place already."""
        nodes = dict(cluster.nodes)
        for _, placement in leaving:
            nodes[placement.node] = nodes[placement.node].releasing(placement)
        for name, expected in self.nominated.items():
            if name in nodes:
                nodes[name] = eviction_candidates.with_nominated(nodes[name], expected)
        return replace(cluster, nodes=nodes)


@dataclass(frozen=True, slots=True)
class Room:
    """The places of the pods once the `victims` are gone, some of which may be on their way, within `seconds`."""

    placements: tuple[Placement, ...]
    victims: tuple[Victim, ...]
    seconds: int


def choose_victims(pods: Sequence[Pod], cluster: Cluster, tenancy: Tenancy, policy: Policy) -> Room | None:
    """The cheapest way to have places for all these pods; None where there is none, or they want nobody to go.

    Nor is there one as long as it needs what those hold whom kube-scheduler has yet to remove for others.
    """
    members = placeable(pods)
    if len(members) < len(pods) or not all(pod.preempts for pod in pods):
        return None
    held = [(pod, placement_of(pod.uid, claim)) for pod, claim in tenancy.held]
    leaving = [(pod, placed) for pod, placed in held if pod.terminating or pod.uid in tenancy.going]
    staying = [(pod, placed) for pod, placed in held if not (pod.terminating or pod.uid in tenancy.going)]
    units = list(tenancy.units(staying, set(map(gang_of, pods))))
    at_stake = AtStake(min(pod.priority for pod in pods), units, tenancy.stakes)
    found = clearance.make_room(members, tenancy.without(leaving, cluster), policy, at_stake)
    promised = {identity for pod, placed in leaving if not pod.terminating for identity in placed.ids}
    if found is None or any(promised.intersection(placed.ids) for placed in found.placements):
        return None
    nodes, victims = {placed.node for placed in found.placements}, set(found.victims)
    awaited = [pod for pod, placed in leaving if placed.node in nodes and pod.terminating]
    awaited += [pod for pod, _ in staying if pod.uid in victims]
    awaited.sort(key=lambda pod: (pod.namespace, pod.group or "", pod.name))
    told = tuple(Victim(pod.uid, pod.namespace, pod.name, pod.group or "") for pod in awaited)
    seconds = max((pod.grace_seconds for pod in awaited), default=0)
    return Room(found.placements, told, min(seconds, MOST_SECONDS))
