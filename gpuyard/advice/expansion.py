"""How many nodes, of a kind that a cluster has, would make pods fit.

Stands for the cluster autoscaler's estimator, whose node groups are here the kinds of nodes that are there. Law: what
is answered was placed by the planner, on the cluster with these nodes added; of several kinds the one that takes the
fewest nodes is named.
"""

import dataclasses
import itertools
from collections.abc import Iterator
from typing import Final

from gpuyard.advice import simulation
from gpuyard.advice.simulation import Outcome, Unit
from gpuyard.placing.cluster import Cluster, Node
from gpuyard.pods import fit
from gpuyard.pods.fit import NodeFit
from gpuyard.policies.candidates import Policy

_KINDS: Final = 3
"""So many kinds are tried."""
_TRIES: Final = 3
"""So many numbers of nodes are tried: the first suffices where the pods are alike."""
_HOSTNAME: Final = "kubernetes.io/hostname"


def smallest(outcome: Outcome, policy: Policy) -> tuple[str, int] | None:
    """The name of a node, and how many like it would do."""
    kinds = itertools.islice(_kinds(outcome), _KINDS)
    found = [(count, kind.name) for kind in kinds if (count := _count(kind, outcome, policy))]
    return (min(found)[1], min(found)[0]) if found else None


def _count(kind: Node, outcome: Outcome, policy: Policy) -> int:
    """How many nodes of the kind; 0 when that does not help, or not soon."""
    failed = Unit("", outcome.failed, together=True)
    alone = simulation.place(failed, _added(kind, 1), policy)
    on_one = len(alone.placements) or alone.reached
    if not on_one:
        return 0
    fewest = -(-len(outcome.failed) // on_one)
    whole = dataclasses.replace(outcome.unit, together=True)
    for count in range(fewest, min(fewest + _TRIES, len(outcome.failed) + 1)):
        larger = Cluster({**outcome.before.nodes, **_added(kind, count).nodes})
        if simulation.place(whole, larger, policy).fits:
            return count
    return 0


def _kinds(outcome: Outcome) -> Iterator[Node]:
    """One node of each kind that the first pod without a place is meant for."""
    pod, seen = outcome.failed[0].fit, set[object]()
    for _, node in sorted(outcome.before.nodes.items()):
        empty = _empty(node, node.name)
        kind = (empty.occupancy, tuple(sorted(node.fit.allocatable.items())))
        if kind not in seen and fit.misplaced(pod, _fit(node.fit, "")) is None:
            seen.add(kind)
            yield node


def _added(kind: Node, count: int) -> Cluster:
    # No name of an object can have a blank: none is taken.
    return Cluster({f"new {i}": _empty(kind, f"new {i}") for i in range(count)})


def _empty(node: Node, name: str) -> Node:
    return Node(name, _fit(node.fit, name), node.inventory)


def _fit(found: NodeFit, name: str) -> NodeFit:
    """A new node is ready; what makes the old one unlike all others is its name."""
    labels = {**found.labels, **({_HOSTNAME: name} if _HOSTNAME in found.labels else {})}
    return dataclasses.replace(found, name=name, labels=labels, ready=True, unschedulable=False)
