"""Policies and profiles in the extender: they order the nodes that pass, and have no say in which those are."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard import annotations, vocabulary
from gpuyard.hardware.gpus import GPU
from gpuyard.hardware.inventory import Inventory, MigStrategy
from gpuyard.placing.cluster import Placement
from gpuyard.policies import profiles
from gpuyard.policies.candidates import Policy
from gpuyard.policies.memory import Informed
from gpuyard.policies.registry import POLICIES
from gpuyard.writes import JSON
from gpuyard_extender.deciding import scheduling
from gpuyard_extender.ledger import pods
from gpuyard_extender.ledger.experience import Experience
from gpuyard_extender.ledger.ledger import Ledger
from gpuyard_extender.ledger.pods import Pod
from tests.extender.builders import Stage, device, gpu_node, gpu_pod

ONE_G, HALF = (vocabulary.mig_resource(name) for name in ("1g.5gb", "3g.20gb"))
CHOSEN: list[Policy] = [
    POLICIES["pack"],
    POLICIES["mig-holes"],
    profiles.parse({"own": {"mig-holes": 3, "fgd": 1, "spread": 1}})["own"],
]
ASKED = st.sampled_from(
    [(ONE_G, 1), (ONE_G, 2), (HALF, 1), (HALF, 3), (vocabulary.GPU, 1), (vocabulary.GPU, 0)]
)


def on_demand(name: str, gpus: int) -> JSON:
    """A node whose GPUs are cut as pods come."""
    found = tuple(GPU(i, device(name, i), "NVIDIA-A100-SXM4-40GB", 40960) for i in range(gpus))
    inventory = Inventory(found, mig_strategy=MigStrategy.DYNAMIC)
    node = gpu_node(name, gpus)
    node["metadata"]["annotations"] = {vocabulary.INVENTORY: annotations.write_inventory(inventory)}
    for offered in inventory.devices():
        amounts = node["status"]["allocatable"]
        amounts[offered.resource] = str(sum(d.resource == offered.resource for d in inventory.devices()))
    return node


def read(name: str, resource: str, count: int, node: str | None = None) -> tuple[JSON, Pod]:
    obj = gpu_pod(name, count, resource=resource, node=node)
    found = pods.read(obj)
    assert found is not None
    return obj, found


def bind(ledger: Ledger, name: str, resource: str, count: int, node: str) -> None:
    """The pod on that node, if it has room."""
    obj, pod = read(name, resource, count, node)
    placed = scheduling.judge(pod, node, ledger, 0.0)
    if isinstance(placed, Placement):
        text = annotations.write_allocation(placed.allocation)
        obj["metadata"]["annotations"] = {vocabulary.ALLOCATION: text}
        ledger.observe("pods", "ADDED", obj)


@settings(deadline=None, max_examples=40)
@given(
    gpus=st.lists(st.integers(0, 2), min_size=1, max_size=5),
    running=st.lists(st.tuples(ASKED, st.integers(0, 4)), max_size=8),
    asked=ASKED,
)
def test_who_passes_is_the_same_by_every_policy_and_only_the_order_differs(
    gpus: list[int], running: list[tuple[tuple[str, int], int]], asked: tuple[str, int]
) -> None:
    ledger, names = Ledger(), [f"n{i}" for i in range(len(gpus))]
    ledger.replace("nodes", [on_demand(name, count) for name, count in zip(names, gpus, strict=True)])
    for number, (wanted, place) in enumerate(running):
        bind(ledger, f"p{number}", *wanted, names[place % len(names)])
    _, pod = read("asked", *asked)
    passed = scheduling.filter_nodes(pod, names, ledger, 0.0).passed
    orders = []
    for policy in CHOSEN:
        told = Informed(policy, Experience(ledger).workload)
        ranks = scheduling.prioritize(pod, names, ledger, told, 0.0)
        assert sorted(ranks.values()) == list(range(1, len(names) + 1))
        assert set(sorted(names, key=lambda name: -ranks[name])[: len(passed)]) == set(passed)
        assert scheduling.filter_nodes(pod, names, ledger, 0.0).passed == passed
        orders.append(ranks)
    if asked[0] == vocabulary.GPU:
        assert orders[0] == orders[1]


def test_an_extender_ranks_by_the_profile_that_it_is_given() -> None:
    nodes = gpu_node("a", 4), gpu_node("b", 2), gpu_node("c", 8)
    for weights, best in (({"pack": 1}, "b"), ({"pack": 1, "spread": 2}, "c")):
        stage = Stage(*nodes, policy=profiles.parse({"own": weights})["own"])
        ranks = stage.extender.prioritize({"Pod": gpu_pod("p"), "NodeNames": ["a", "b", "c"]})
        assert max(ranks, key=lambda found: found["Score"])["Host"] == best
