"""How much of the GPUs that are free is of no use to typical pods, node by node.

Stands for nothing in Kubernetes: what `replay` draws as a curve, of the cluster as it is. Law: the measure is the
domain's, of the pods that hold a place now; nodes without GPUs are left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gpuyard.placing import scoring
from gpuyard.placing.cluster import Node
from gpuyard.placing.fleet import Fleet
from gpuyard.placing.scoring import Row
from gpuyard.pods import requests
from gpuyard.policies.fragmentation import fragmentation
from gpuyard.policies.outcomes import States
from gpuyard.policies.workload import Workload
from gpuyard_extender.ledger.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Fragments:
    """GPU thousandths by node: what is free, and what of it a typical pod could not use."""

    free: Mapping[str, int]
    lost: Mapping[str, int]


def measure(ledger: Ledger, workload: Workload) -> Fragments:
    """The fragments of this moment."""
    cluster = ledger.holdings.cluster(())
    names = [name for name, node in cluster.nodes.items() if _has_gpus(node)]
    fleet = Fleet.of(cluster)
    states = fleet.states(fleet.find(names))
    # Asked by nobody: only the states of the nodes are of interest.
    found = scoring.candidates({}, "", np.zeros((len(names), len(Row._fields)), np.int64), states)
    lost = fragmentation(States(found.cpu, found.memory, found.gpus, workload.bits(found.model)), workload)
    return Fragments(
        free=dict(zip(names, found.gpus.sum(axis=1).tolist(), strict=True)),
        lost=dict(zip(names, np.rint(lost).astype(np.int64).tolist(), strict=True)),
    )


def _has_gpus(node: Node) -> bool:
    if node.inventory is not None:
        return bool(node.inventory.gpus)
    return any(map(requests.is_device_resource, node.fit.allocatable))
