"""Who has what of each GPU, by the objects of a cluster, however odd these are."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard import annotations, vocabulary
from gpuyard.hardware.gpus import GPU, Instance
from gpuyard.hardware.inventory import Inventory, MigStrategy
from gpuyard.writes import JSON
from gpuyard_cli.top.json import to_json
from gpuyard_cli.top.reading import Followed
from gpuyard_cli.top.rows import CountRow, GpuRow, NodeRow, Owner, View, view
from gpuyard_cli.top.table import lines
from tests.cli.odd import ODD
from tests.extender.builders import device, gpu_node, gpu_pod

A100 = "NVIDIA-A100-SXM4-40GB"
SMALL, HALF = "nvidia.com/mig-1g.5gb", "nvidia.com/mig-3g.20gb"


def looked(nodes: list[Any], pods: list[Any]) -> View:
    followed = Followed()
    followed.replace("nodes", nodes)
    followed.replace("pods", pods)
    return view(followed.nodes.values(), followed.pods.values(), len(followed.unreadable))


def row(*pods: JSON, node: JSON) -> NodeRow:
    [found] = looked([node], list(pods)).nodes
    return found


def gpus(*pods: JSON, node: JSON) -> list[tuple[int, int, str, tuple[Owner, ...]]]:
    """Free, total, slices and owners of each GPU."""
    return [(gpu.free, gpu.total, gpu.slices, gpu.owners) for gpu in row(*pods, node=node).gpus]


def noted(inventory: Inventory, **notes: str) -> JSON:
    node = gpu_node("n")
    node["metadata"]["annotations"] = {vocabulary.INVENTORY: annotations.write_inventory(inventory), **notes}
    return node


def divided(strategy: MigStrategy, *instances: Instance) -> JSON:
    gpu = GPU(0, device("n", 0), A100, 40960, mig_enabled=bool(instances), instances=instances)
    return noted(Inventory((gpu,), mig_strategy=strategy))


def test_what_the_kubelet_says_goes_before_the_plan_and_the_plan_before_nothing() -> None:
    first, second = device("n", 0), device("n", 1)
    moved = gpu_pod("moved", node="n", plan=[second], truth=[first], phase="Running")
    planned = gpu_pod("new", node="n", plan=[second])
    assert gpus(moved, planned, node=gpu_node("n", 3)) == [
        (0, 1, "", (Owner("default/moved"),)),
        (0, 1, "", (Owner("default/new", planned=True),)),
        (1, 1, "", ()),
    ]


def test_pods_that_have_ended_have_nothing_and_those_without_a_node_wait() -> None:
    ended = gpu_pod("ended", node="n", truth=[device("n", 0)], phase="Succeeded")
    found = looked([gpu_node("n", 1)], [ended, gpu_pod("waits"), gpu_pod("plain", 0)])
    assert found.nodes[0].gpus[0].free == 1
    assert found.waiting == 1


def test_shares_are_counted_by_pod() -> None:
    one = gpu_pod("one", 2, node="n", truth=[f"{device('n', 0)}::{i}" for i in (0, 3)])
    assert gpus(one, node=gpu_node("n", 1, shares=4)) == [(2, 4, "", (Owner("default/one", count=2),))]


def test_shares_are_free_as_far_as_there_is_room_on_their_gpu_and_its_age_is_told() -> None:
    node = gpu_node("n", 1, shares=4)
    written = {"f:metadata": {"f:annotations": {f"f:{vocabulary.INVENTORY}": {}}}}
    node["metadata"]["managedFields"] = [
        {"fieldsV1": {}},
        {"fieldsV1": written, "time": "2026-11-30T08:00:00Z"},
    ]
    one = gpu_pod("one", node="n", truth=[f"{device('n', 0)}::0"], resource=vocabulary.GPU_SHARED)
    one["metadata"]["annotations"] = {vocabulary.GPU_MILLI: "700"}
    [found] = to_json(looked([node], [one]))["nodes"]
    [gpu] = found["gpus"]
    assert (gpu["free"], gpu["total"], gpu["leftMilli"], gpu["leftMemoryMiB"]) == (1, 4, 300, 12288)
    assert found["inventorySince"] == "2026-11-30T08:00:00Z"


def test_instances_are_drawn_with_who_has_them() -> None:
    node = divided(
        MigStrategy.MIXED, Instance("3g.20gb", 4, 4, "MIG-half"), Instance("1g.5gb", 0, 1, "MIG-small")
    )
    pod = gpu_pod("one", node="n", resource=HALF, truth=["MIG-half"])
    assert gpus(pod, node=node) == [(1, 2, "-...####", (Owner("default/one", "3g.20gb"),))]


def test_where_instances_are_made_on_demand_slices_are_counted() -> None:
    node = divided(MigStrategy.DYNAMIC)
    inventory = annotations.read_inventory(node["metadata"]["annotations"][vocabulary.INVENTORY])
    assert inventory is not None
    place = next(d for d in inventory.devices() if (d.resource, d.start) == (HALF, 4))
    half = gpu_pod("half", node="n", resource=HALF, plan=[place.id])
    assert gpus(half, node=node) == [(4, 8, "....####", (Owner("default/half", "3g.20gb", planned=True),))]
    whole = gpu_pod("whole", node="n", truth=[device("n", 0)])
    assert gpus(whole, node=node) == [(0, 8, "########", (Owner("default/whole"),))]


def test_an_unhealthy_gpu_has_its_xid_and_nothing_free() -> None:
    healths = (GPU(0, "a", A100, 1, healthy=False), GPU(1, "b", A100, 1))
    node = noted(Inventory(healths), **{f"{vocabulary.XID_PREFIX}0": "79", f"{vocabulary.XID_PREFIX}1": "?"})
    assert [(gpu.xid, gpu.free) for gpu in row(node=node).gpus] == [(79, 0), (None, 1)]
    on_demand = noted(Inventory(healths, mig_strategy=MigStrategy.DYNAMIC))
    assert [(gpu.free, gpu.total) for gpu in row(node=on_demand).gpus] == [(0, 8), (8, 8)]


def test_without_an_inventory_devices_are_counted() -> None:
    node = gpu_node("n", 5, inventory=False)
    node["status"]["capacity"] = {vocabulary.GPU: "8"}
    found = row(gpu_pod("one", 2, node="n"), node=node)
    assert found.gpus == ()
    assert found.counts == (CountRow(vocabulary.GPU, 3, 8, 3, (Owner("default/one", count=2),)),)


def test_what_a_pod_has_on_no_known_gpu_is_told_beside_them() -> None:
    gone = gpu_pod("gone", node="n", truth=["GPU-pulled-out"])
    unnamed = gpu_pod("unnamed", 2, node="n")
    assert row(gone, unnamed, node=gpu_node("n", 1)).strays == (
        Owner("default/gone", "gone"),
        Owner("default/unnamed", vocabulary.GPU, 2),
    )


def test_events_change_just_what_they_speak_of() -> None:
    followed, heard = Followed(), list[str]()
    followed.heard = heard.append
    followed.replace("nodes", [gpu_node("n"), gpu_node("m")])
    pod = gpu_pod("one")
    followed.observe("pods", "ADDED", pod)
    followed.observe("pods", "MODIFIED", {**pod, "status": {"phase": "Failed"}})
    followed.observe("nodes", "MODIFIED", {"metadata": {"name": "n"}, "status": 5})
    assert (set(followed.nodes), followed.pods, followed.unreadable) == ({"m"}, {}, {"nodes/n"})
    followed.observe("nodes", "DELETED", {"metadata": {"name": "n"}})
    assert followed.unreadable == set()
    assert heard == ["nodes", "pods", "pods", "nodes", "nodes"]


FIELDS = st.sampled_from(
    [
        ("metadata", "name"), ("metadata", "namespace"), ("metadata", "labels"), ("metadata", "annotations"),
        ("spec", "nodeName"), ("spec", "containers"), ("spec", "unschedulable"), ("status", "phase"),
        ("status", "conditions"), ("status", "containerStatuses"), ("status", "allocatable"), ("status", "capacity"),
    ]
)  # fmt: skip
GPU_FIELDS = st.sampled_from(
    ["index", "memoryMiB", "numa", "nvlink", "lostLinks", "instances", "model", "uuid"]
)
WHOLES = st.integers(-(10**12), 10**12)
INSTANCES = st.lists(
    st.fixed_dictionaries(
        {"profile": st.text(max_size=5), "start": WHOLES, "size": WHOLES, "uuid": st.text(max_size=5)}
    ),
    max_size=3,
)


@settings(deadline=None, max_examples=100)
@given(
    changes=st.lists(st.tuples(FIELDS, ODD), max_size=3),
    gpu=st.dictionaries(GPU_FIELDS, ODD | WHOLES | INSTANCES, max_size=3),
    strategy=st.sampled_from(list(MigStrategy)),
)
def test_whatever_comes_the_rest_is_shown(
    changes: list[tuple[tuple[str, str], Any]], gpu: JSON, strategy: MigStrategy
) -> None:
    node = divided(strategy, Instance("1g.5gb", 0, 1, "MIG-a"))
    document = json.loads(node["metadata"]["annotations"][vocabulary.INVENTORY])
    document["gpus"][0] |= gpu
    node["metadata"]["annotations"][vocabulary.INVENTORY] = json.dumps(document)
    pod = gpu_pod("odd", node="n", plan=["MIG-a", device("n", 0)])
    for (part, key), value in changes:
        for obj in (node, pod):
            obj[part][key] = value
    good = gpu_pod("good", node="good", truth=[device("good", 0)])
    found = looked([node, gpu_node("good"), None, [node]], [pod, good, 7])
    last = next(each for each in found.nodes if each.name == "good")
    assert last.gpus[0].owners == (Owner("default/good"),)
    assert found.unreadable >= 1
    json.dumps(to_json(found))
    assert all(line.isprintable() for line in lines(found))
    assert all(isinstance(gpu, GpuRow) for each in found.nodes for gpu in each.gpus)
