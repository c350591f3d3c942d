"""Whom kube-scheduler named for a node, as the ledger knows them, and which of them have to go all the same.

Stands for the victims in ExtenderPreemptionArgs. Law: whom the ledger does not know has to go, as kube-scheduler
says; who is gone, or as important as the pod, or says that it makes way for nobody, does not.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from gpuyard.placing.cluster import Node, Placement
from gpuyard.preempting import named
from gpuyard.preempting.named import Named
from gpuyard.writes import JSON
from gpuyard_extender.deciding.eviction_candidates import placement_of
from gpuyard_extender.ledger import pods
from gpuyard_extender.ledger.ledger import Ledger
from gpuyard_extender.ledger.pods import Pod

Given = Mapping[str, JSON | None]
"""By UID, the Pod objects where kube-scheduler sent them (nodeCacheCapable: false)."""


@dataclass(frozen=True, slots=True)
class Victim:
    """One of them, and what it takes on the node as far as that is known. `pod` None: nobody knows it."""

    pod: Pod | None
    placement: Placement

    def is_below(self, pod: Pod) -> bool:
        return self.pod is None or self.pod.priority < pod.priority

    def goes_for(self, pod: Pod) -> bool:
        """Whether it may be made to."""
        return self.is_below(pod) and not (self.pod and self.pod.spared)


def must_go(pod: Pod, node: Node, given: Given, made_for: Iterable[Pod], ledger: Ledger) -> list[Victim]:
    """Those of `given` whom the pod needs gone from `node`, where all of them are, whatever devices it gets there."""
    found = {victim.placement.uid: victim for victim in _known(node.name, given, ledger)}
    owed = [node.used, *(other.fit.requests for other in made_for)]
    left = {name: n - sum(taken.get(name, 0) for taken in owed) for name, n in node.fit.allocatable.items()}
    asked = [
        Named(uid, victim.placement.requests, victim.pod.neighbour if victim.pod else None)
        for uid, victim in found.items()
    ]
    return [found[one.uid] for one in named.must_go(pod.fit.requests, pod.neighbour, left, asked)]


def _known(name: str, given: Given, ledger: Ledger) -> Iterator[Victim]:
    for uid, obj in given.items():
        pod, claim = ledger.pods.get(uid), ledger.holdings.claim(uid)
        if pod is None and obj is not None:
            pod = pods.read(obj)
        if ledger.pods.deleted(uid) or (pod is not None and pod.ended):
            continue
        is_there = claim is not None and claim.node == name and claim.yields_above is None
        yield Victim(pod, placement_of(uid, claim) if claim and is_there else Placement(uid, name, {}, {}))
