"""Would it fit? Places for pods that nobody has created, and what would make them fit.

Stands for the cluster autoscaler's view of a scheduler. Laws: the ledger is never written; what it holds is taken as
of one moment, by `snapshot`, so that all else can be done in a thread of its own while the ledger moves on.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gpuyard.advice.simulation import Unit, run
from gpuyard.placing.cluster import Cluster
from gpuyard.pods import workloads
from gpuyard.policies.candidates import Policy
from gpuyard.preempting.stakes import Candidate
from gpuyard_extender.advice import simulation_answers, simulation_nodes, simulation_units
from gpuyard_extender.advice.simulation_models import Asked, Simulated
from gpuyard_extender.advice.simulation_quotas import Quotas
from gpuyard_extender.advice.simulation_units import Known
from gpuyard_extender.deciding import eviction_candidates
from gpuyard_extender.ledger.claims import Claim
from gpuyard_extender.ledger.groups import Group
from gpuyard_extender.ledger.ledger import Ledger
from gpuyard_extender.ledger.pods import Pod

_MOST: Final = 150_000
"""Pods times nodes: some seconds."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A ledger at one moment, with claims by node and UID. Pods and groups are looked up as they are later."""

    cluster: Cluster
    claims: Mapping[str, Mapping[str, Claim]]
    pod: Callable[[str], Pod | None]
    group: Callable[[str, str], Group | None]

    def held(self, node: str) -> Sequence[Candidate]:
        """The pods that are bound to a node. Those on their way out are thought to end first."""
        found = ((self.pod(uid), uid, claim) for uid, claim in self.claims.get(node, {}).items())
        return [
            Candidate(-1 if pod.terminating else 0, eviction_candidates.placement_of(uid, claim))
            for pod, uid, claim in found
            if pod is not None and pod.node == node
        ]

    def siblings(self, namespace: str, group: str) -> tuple[str, ...]:
        """The nodes of the group's members that are bound."""
        bound = ((node, self.pod(uid)) for node, claims in self.claims.items() for uid in claims)
        return tuple(
            node
            for node, pod in bound
            if pod and (pod.namespace, pod.group, pod.node) == (namespace, group, node)
        )

    def named(self, uids: Iterable[str]) -> list[str]:
        """namespace/name of pods; of those that have gone meanwhile the UID."""
        found = [(self.pod(uid), uid) for uid in uids]
        return sorted(f"{pod.namespace}/{pod.name}" if pod else uid for pod, uid in found)


def snapshot(ledger: Ledger, now: float) -> Snapshot:
    """What a simulation needs of the ledger."""
    cluster = ledger.cluster(now)
    return Snapshot(cluster, ledger.holdings.every_claim(), ledger.pods.get, ledger.groups.named)


def simulate(asked: Asked, seen: Snapshot, policy: Policy) -> Simulated:
    """The answer; takes up to some seconds. ValueError names the field that is wrong, and the remedy."""
    wanted = workloads.read(asked.objects)
    cluster = _cluster(asked, seen)
    count = sum(found.replicas for found in wanted.workloads)
    if count * len(cluster.nodes) > _MOST:
        most = max(1, _MOST // len(cluster.nodes))
        raise ValueError(f"objects: {count} pods on {len(cluster.nodes)} nodes; ask about {most} at a time")
    known = Known(seen.group, seen.siblings, Quotas.read(asked.queues, wanted.queues))
    units = list(simulation_units.split(wanted, known))
    tried = run([unit for unit in units if isinstance(unit, Unit)], cluster, policy)
    answers = [
        simulation_answers.outcome(next(tried), policy, seen.held, seen.named)
        if isinstance(unit, Unit)
        else simulation_answers.refused(unit)
        for unit in units
    ]
    fits = all(found.fits for found in answers)
    return Simulated(fits=fits, outcomes=answers, ignored=list(wanted.ignored))


def _cluster(asked: Asked, seen: Snapshot) -> Cluster:
    known = seen.cluster.nodes
    if asked.nodes is not None:
        known = simulation_nodes.read(asked.nodes, "nodes", seen.claims)
    added = simulation_nodes.read(asked.add_nodes, "addNodes", {})
    if taken := sorted(added.keys() & known.keys()):
        raise ValueError(f"addNodes: {taken[0]} is the name of a node that is there; give it another")
    return Cluster({**known, **added}) if asked.nodes is not None or added else seen.cluster
