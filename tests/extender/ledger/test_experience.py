"""What the extender learns of typical pods, from those that hold a place."""

import random
from typing import Any

import pytest

from gpuyard import vocabulary
from gpuyard.policies.foresight import foresight
from gpuyard.policies.memory import Informed
from gpuyard.policies.registry import POLICIES
from gpuyard.policies.workload import Workload
from gpuyard_extender.deciding import scheduling
from gpuyard_extender.ledger import pods
from gpuyard_extender.ledger.claims import Grade
from gpuyard_extender.ledger.experience import Experience
from gpuyard_extender.ledger.ledger import Ledger
from gpuyard_replay.engine import Engine
from gpuyard_replay.fleet import Fleet
from gpuyard_replay.traces import TraceNode, TracePod
from tests.extender.builders import device, gpu_node, gpu_pod

_MODELS = ("NVIDIA-A100-SXM4-40GB", "NVIDIA-H100-80GB-HBM3", "Tesla-T4")


def test_typical_pods_are_those_that_are_bound_with_their_cpus_and_parts_of_gpus() -> None:
    ledger = Ledger()
    ledger.replace("nodes", [gpu_node("whole", 4), gpu_node("shared", 1, shares=2)])
    experience = Experience(ledger)
    assert len(experience.workload().cpu) == 0
    pods = [gpu_pod(f"p{i}", 1, node="whole", plan=[device("whole", i)], cpu="3") for i in range(3)]
    share = gpu_pod(
        "s", 1, resource=vocabulary.GPU, node="shared", plan=[f"{device('shared', 0)}::1"], cpu="1"
    )
    waiting = gpu_pod("w", 1, cpu="7")
    ledger.replace("pods", [*pods, share, waiting, *(gpu_pod(f"c{i}", 0, node="whole") for i in range(40))])
    found = Experience(ledger).workload()
    known = set(zip(found.cpu.tolist(), found.count.tolist(), found.milli.tolist(), strict=True))
    assert (3000, 1, 1000) in known
    assert not any(cpu == 7000 for cpu, _, _ in known)


def test_it_learns_again_once_enough_has_changed() -> None:
    ledger = Ledger()
    ledger.replace("nodes", [gpu_node("n", 8)])
    experience = Experience(ledger)
    assert len(experience.workload().cpu) == 0
    for i in range(40):
        ledger.observe("pods", "ADDED", gpu_pod(f"p{i}", 0, node="n", cpu="1"))
    assert experience.workload().cpu.tolist() == [1000]


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_amounts_beyond_all_bounds_keep_no_policy_from_ranking(policy: str) -> None:
    ledger, most = Ledger(), str(2**63 - 1)
    ledger.replace(
        "nodes", [gpu_node("counted", 4, inventory=False), gpu_node("n", 4), gpu_node("m", 4, cpu=most)]
    )
    ledger.replace("pods", [gpu_pod("absurd", 2**63 - 1, node="counted", cpu=most)])
    known = Informed(POLICIES[policy], Experience(ledger).workload)
    for cpu in ("1", most):
        pod = pods.read(gpu_pod("p", 1, cpu=cpu))
        assert pod is not None
        assert set(scheduling.prioritize(pod, ["counted", "n", "m"], ledger, known, 0.0)) == {
            "counted",
            "n",
            "m",
        }


def traced() -> tuple[list[TraceNode], list[TracePod]]:
    """A small trace whose GPUs are whole: of shares the extender, not the policy, chooses the GPU."""
    drawn = random.Random(3)
    nodes = [TraceNode(f"n{i}", 64_000, 512 * 1024, 4, _MODELS[i % 3]) for i in range(9)]
    liked = [(), (), (_MODELS[0],), (_MODELS[1],), _MODELS[1:]]
    found = []
    for i in range(60):
        count = drawn.choice((0, 1, 1, 1, 2, 4))
        models = drawn.choice(liked) if count else ()
        found.append(
            TracePod(f"p{i}", drawn.choice((1, 4, 15)) * 1000, 0, count, 1000 if count else 0, models)
        )
    return nodes, found


def node_object(node: TraceNode, *, inventory: bool) -> Any:
    obj = gpu_node(node.name, node.gpus, inventory=inventory)
    if inventory:
        marks = obj["metadata"]["annotations"]
        marks[vocabulary.INVENTORY] = marks[vocabulary.INVENTORY].replace(_MODELS[0], node.model)
    obj["metadata"]["labels"] = {vocabulary.PRODUCT_LABEL: node.model}
    return obj


def pod_object(pod: TracePod, **more: Any) -> Any:
    """With one model in a node selector, with several in node affinity."""
    obj = gpu_pod(pod.name, pod.count, cpu=str(pod.cpu // 1000), **more)
    wish = {"key": vocabulary.PRODUCT_LABEL, "operator": "In", "values": list(pod.models)}
    required = {"nodeSelectorTerms": [{"matchExpressions": [wish]}]}
    if len(pod.models) == 1:
        obj["spec"]["nodeSelector"] = {vocabulary.PRODUCT_LABEL: pod.models[0]}
    elif pod.models:
        affinity = {"requiredDuringSchedulingIgnoredDuringExecution": required}
        obj["spec"]["affinity"] = {"nodeAffinity": affinity}
    return obj


def learnt(nodes: list[TraceNode], known: list[TracePod], *, inventory: bool) -> Workload:
    """What an extender knows that has seen all these pods run, on one node that has room for them."""
    ledger = Ledger()
    room = gpu_node("room", 0, inventory=False)
    ledger.replace("nodes", [room, *(node_object(node, inventory=inventory) for node in nodes)])
    ledger.replace("pods", [pod_object(pod, node="room") for pod in known])
    return Experience(ledger).workload()


@pytest.mark.parametrize("inventory", [False, True])
def test_who_has_seen_the_pods_of_a_trace_places_them_as_a_replay_of_it_does(*, inventory: bool) -> None:
    nodes, coming = traced()
    fleet = Fleet(nodes)
    engine = Engine(fleet, range(len(nodes)), foresight, fleet.workload(coming), 0)
    rows = [engine.place(fleet.shape(pod)) for pod in coming]
    replayed = [nodes[row].name if row >= 0 else None for row in rows]

    known = learnt(nodes, coming, inventory=inventory)
    policy, ledger, names = Informed(foresight, lambda: known), Ledger(), [node.name for node in nodes]
    ledger.replace("nodes", [node_object(node, inventory=inventory) for node in nodes])
    placed = []
    for coming_pod in coming:
        pod = pods.read(pod_object(coming_pod))
        assert pod is not None
        scheduling.prioritize(pod, names, ledger, policy, 0.0)
        assumed = ledger.assumption(pod.uid, 0.0)
        placed.append(assumed.placement.node if assumed else None)
        if assumed:
            ledger.assume(assumed.placement, Grade.BOUND, 0.0)
    assert placed == replayed
    assert len(set(replayed)) == len(nodes) + 1
