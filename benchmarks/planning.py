"""What places for many pods at once cost: a gang's plan and a simulation, on nodes that are made up.

    python -m benchmarks.planning
    python -m benchmarks.planning --policy topology

Time is processor time of this process: it suffers least from what else runs. Four pods are bound to each node.
`first`: nothing is known of any node; `again`: as in an extender that runs, which has looked at all of them before.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from benchmarks import clusters
from gpuyard import annotations, vocabulary
from gpuyard.groups import gangs, racks
from gpuyard.groups.gangs import Member
from gpuyard.groups.nearness import Domain, Nearness
from gpuyard.placing.cluster import Cluster, Placement
from gpuyard.placing.fleet import Fleet, Surveyed
from gpuyard.pods import requests
from gpuyard.pods.fit import PodFit, requests_of
from gpuyard.pods.requests import PodRequest
from gpuyard.policies import registry
from gpuyard.policies.candidates import Policy
from gpuyard.preempting import clearance
from gpuyard.preempting.clearance import AtStake
from gpuyard.preempting.stakes import Candidate, Stakes
from gpuyard_extender.advice.simulating import Snapshot, simulate
from gpuyard_extender.advice.simulation_models import Asked
from gpuyard_extender.ledger import nodes
from gpuyard_extender.ledger.claims import Tenants

GANGS = ((512, 1_000), (64, 5_000))
PRESSED = ((64, 1_000), (512, 1_000))
RACK = 250
SIMULATED = (30, 5_000)
BOUND = 4
ONE, FITS, HALF, WHOLE, FITS_NOWHERE = 1, 2, 4, 8, 9
SAME_NUMA = {vocabulary.TOPOLOGY: "same-numa"}


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--policy", default="pack", choices=sorted(registry.POLICIES))
    policy = registry.named(parser.parse_args().policy)
    print("| what | pods | nodes | CPU ms, first | again |\n|---|---|---|---|---|")
    for pods, size in GANGS:
        row("a gang, same NUMA node", (pods, size), gang(pods, size, policy))
    for pods, size in PRESSED:
        row("a gang in one rack", (pods, size), racked(pods, size, ONE, policy))
        row("a gang that no rack has room for", (pods, size), racked(pods, size, WHOLE, policy))
        row("half nodes at the expense of others", (pods, size), pressed(pods, size, {}, policy))
        row("the same on one NUMA node each", (pods, size), pressed(pods, size, SAME_NUMA, policy))
    for gpus, what in ((FITS, "a simulation"), (FITS_NOWHERE, "a simulation that fits nowhere")):
        row(what, SIMULATED, simulation(gpus, policy))


def row(what: str, size: tuple[int, int], costs: tuple[float, float]) -> None:
    """One line of it."""
    print(f"| {what} | {size[0]} | {size[1]} | {costs[0]:.0f} | {costs[1]:.0f} |", flush=True)


def gang(pods: int, size: int, policy: Policy) -> tuple[float, float]:
    """Milliseconds for the plan of a gang whose members want two GPUs on one NUMA node each."""
    made = clusters.Cluster(size, BOUND * size)
    members = [_member(made.pod({vocabulary.GPU: FITS}), SAME_NUMA) for _ in range(pods)]
    return _costs(lambda where: gangs.plan(members, where, policy), _cluster(made))


def racked(pods: int, size: int, gpus: int, policy: Policy) -> tuple[float, float]:
    """Milliseconds for the plan of a gang that wants to be in one rack."""
    made = clusters.Cluster(size, BOUND * size)
    for number, node in enumerate(made.nodes):
        node["metadata"]["labels"][vocabulary.RACK] = f"rack-{number // RACK}"
    members = [_member(made.pod({vocabulary.GPU: gpus}), {}) for _ in range(pods)]
    wish = Nearness(Domain.SAME_RACK)
    return _costs(lambda where: racks.plan(members, where, policy, wish), _cluster(made))


def pressed(pods: int, size: int, wish: Mapping[str, str], policy: Policy) -> tuple[float, float]:
    """Milliseconds to say who has to go for a gang of pods with half the GPUs of a node each; everybody might."""
    made = clusters.Cluster(size, BOUND * size)
    members = [_member(made.pod({vocabulary.GPU: HALF}), wish) for _ in range(pods)]
    units = [(Candidate(0, placement),) for placement in _placements(made)]
    at_stake = AtStake(1, units, Stakes())
    return _costs(lambda where: clearance.make_room(members, where, policy, at_stake), _cluster(made))


def simulation(gpus: int, policy: Policy) -> tuple[float, float]:
    """Milliseconds for a Deployment whose pods want so many GPUs each."""
    pods, size = SIMULATED
    made = clusters.Cluster(size, BOUND * size)
    template = made.pod({vocabulary.GPU: gpus})
    metadata = {"name": "asked", "namespace": "default"}
    asked = {"kind": "Deployment", "metadata": metadata, "spec": {"replicas": pods, "template": template}}
    wanted = Asked(objects=[{"apiVersion": "apps/v1", **asked}])

    def simulated(where: Cluster) -> object:
        return simulate(wanted, Snapshot(where, {}, lambda _: None, lambda *_: None), policy)

    return _costs(simulated, _cluster(made))


def _member(pod: dict[str, Any], wish: Mapping[str, str]) -> Member:
    pod["metadata"]["annotations"] = dict(wish)
    request = requests.parse(pod)
    assert isinstance(request, PodRequest)
    return Member(request, PodFit.of(pod))


def _cluster(made: clusters.Cluster) -> Cluster:
    facts = [found for found in map(nodes.read, made.nodes) if found]
    built = {found.name: nodes.build(found, Tenants()) for found in facts}
    for found in _placements(made):
        built[found.node] = built[found.node].taking(found)
    return Cluster(built)


def _placements(made: clusters.Cluster) -> Iterator[Placement]:
    for pod in made.pods:
        if name := pod["spec"].get("nodeName"):
            text = (pod["metadata"].get("annotations") or {}).get(vocabulary.ALLOCATION)
            held = annotations.read_allocation(text) or {}
            yield Placement(pod["metadata"]["uid"], name, held, requests_of(pod))


def _costs(work: Callable[[Cluster], object], where: Cluster) -> tuple[float, float]:
    return _cost(work, where), _cost(work, Surveyed(where.nodes, Fleet.of(where)))


def _cost(work: Callable[[Cluster], object], where: Cluster) -> float:
    start = time.process_time()
    work(where)
    return 1000 * (time.process_time() - start)


if __name__ == "__main__":
    main()
