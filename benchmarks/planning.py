"""What places for many pods at once cost: a gang's plan and a simulation, on nodes that are made up.

    python -m benchmarks.planning
    python -m benchmarks.planning --policy topology

Time is processor time of this process: it suffers least from what else runs. Four pods are bound to each node.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

from benchmarks import clusters
from gpuyard import annotations, gangs, requests, vocabulary
from gpuyard.cluster import Cluster, Placement
from gpuyard.fit import PodFit, requests_of
from gpuyard.gangs import Member
from gpuyard.policies import registry
from gpuyard.policies.candidates import Policy
from gpuyard.requests import PodRequest
from gpuyard_extender import nodes
from gpuyard_extender.simulating import Snapshot, simulate
from gpuyard_extender.simulation_models import Asked

GANGS = ((512, 1_000), (64, 5_000))
SIMULATED = (30, 5_000)
BOUND = 4
FITS, FITS_NOWHERE = 2, 9


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--policy", default="pack", choices=sorted(registry.POLICIES))
    policy = registry.named(parser.parse_args().policy)
    print("| what | pods | nodes | CPU ms |\n|---|---|---|---|")
    for pods, size in GANGS:
        print(f"| a gang, same NUMA node | {pods} | {size} | {gang(pods, size, policy):.0f} |", flush=True)
    for gpus, what in ((FITS, "a simulation"), (FITS_NOWHERE, "a simulation that fits nowhere")):
        print(f"| {what} | {SIMULATED[0]} | {SIMULATED[1]} | {simulation(gpus, policy):.0f} |", flush=True)


def gang(pods: int, size: int, policy: Policy) -> float:
    """Milliseconds for the plan of a gang whose members want two GPUs on one NUMA node each."""
    made = clusters.Cluster(size, BOUND * size)
    members = [_member(made.pod({vocabulary.GPU: 2})) for _ in range(pods)]
    where = _cluster(made)
    return _cost(lambda: gangs.plan(members, where, policy))


def simulation(gpus: int, policy: Policy) -> float:
    """Milliseconds for a Deployment whose pods want so many GPUs each."""
    pods, size = SIMULATED
    made = clusters.Cluster(size, BOUND * size)
    template = made.pod({vocabulary.GPU: gpus})
    metadata = {"name": "asked", "namespace": "default"}
    asked = {"kind": "Deployment", "metadata": metadata, "spec": {"replicas": pods, "template": template}}
    seen = Snapshot(_cluster(made), {}, lambda _: None, lambda *_: None)
    return _cost(lambda: simulate(Asked(objects=[{"apiVersion": "apps/v1", **asked}]), seen, policy))


def _member(pod: dict[str, Any]) -> Member:
    pod["metadata"]["annotations"] = {vocabulary.TOPOLOGY: "same-numa"}
    request = requests.parse(pod)
    assert isinstance(request, PodRequest)
    return Member(request, PodFit.of(pod))


def _cluster(made: clusters.Cluster) -> Cluster:
    facts = [found for found in map(nodes.read, made.nodes) if found]
    built = {found.name: nodes.build(found, {}) for found in facts}
    for pod in made.pods:
        if name := pod["spec"].get("nodeName"):
            text = (pod["metadata"].get("annotations") or {}).get(vocabulary.ALLOCATION)
            held = annotations.read_allocation(text) or {}
            built[name] = built[name].taking(Placement(pod["metadata"]["uid"], name, held, requests_of(pod)))
    return Cluster(built)


def _cost(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return 1000 * (time.process_time() - start)


if __name__ == "__main__":
    main()
