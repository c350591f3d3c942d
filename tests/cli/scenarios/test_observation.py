"""What is seen of a cluster, in words that are the same on every backend."""

from typing import Any

from gpuyard import annotations, vocabulary
from gpuyard.hardware.gpus import GPU, Instance
from gpuyard.hardware.inventory import Inventory, MigStrategy, Sharing, SharingMode
from gpuyard_cli.scenarios.observation import GroupSeen, PodSeen, Snapshot, held_devices, is_live, observe

WHOLE = Inventory((GPU(0, "GPU-a", "M", 1), GPU(1, "GPU-b", "M", 1)))
MIG = Inventory(
    (GPU(0, "GPU-c", "M", 1, mig_enabled=True, instances=(Instance("1g.5gb", 4, 1, "MIG-x"),)),),
    mig_strategy=MigStrategy.MIXED,
)
SHARED = Inventory((GPU(0, "GPU-d", "M", 1),), Sharing(SharingMode.TIME_SLICING, 2, renamed=True))


def node(name: str, inventory: Inventory | None = None, yard_name: str = "", **allocatable: str) -> Any:
    marks = {vocabulary.INVENTORY: annotations.write_inventory(inventory)} if inventory else {}
    labels = {vocabulary.YARD_NODE: yard_name} if yard_name else {}
    offered = {"cpu": "4", **{f"nvidia.com/{key}": amount for key, amount in allocatable.items()}}
    return {
        "metadata": {"name": name, "annotations": marks, "labels": labels},
        "status": {"allocatable": offered},
    }


def pod(
    name: str, *ids: str, node: str = "", phase: str = "Running", namespace: str = "a", limit: str = ""
) -> Any:
    held = [{"name": "nvidia.com/gpu", "resources": [{"resourceID": found} for found in ids]}]
    limits = {"nvidia.com/gpu": limit} if limit else {}
    return {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"containers": [{"name": "main", "resources": {"limits": limits}}]}
        | ({"nodeName": node} if node else {}),
        "status": {"phase": phase, "containerStatuses": [{"name": "main", "allocatedResourcesStatus": held}]},
    }


def snapshot(nodes: tuple[Any, ...] = (), pods: tuple[Any, ...] = (), **more: Any) -> Snapshot:
    return Snapshot(nodes, pods, **{"groups": (), "reservations": (), **more})


def test_nodes_go_by_their_yard_names_and_devices_by_their_places() -> None:
    nodes = (node("worker", WHOLE, "node-1"), node("worker2", MIG, "node-2"), node("worker3", SHARED))
    pods = (
        pod("whole", "GPU-b", "GPU-a", node="worker"),
        pod("slice", "MIG-x", node="worker2"),
        pod("share", "GPU-d::1", node="worker3"),
    )
    assert observe(snapshot(nodes, pods), "a").pods == {
        "whole": PodSeen("Running", "node-1", {"main": ("0", "1")}),
        "slice": PodSeen("Running", "node-2", {"main": ("0:4",)}),
        "share": PodSeen("Running", "worker3", {"main": ("0::",)}),
    }


def test_a_pair_of_gpus_without_its_nvlink_is_named_once() -> None:
    ends = ((1, 2), (0,), (0,))
    cut = Inventory(
        tuple(GPU(i, f"GPU-{i}", "M", 1, nvlink=0, lost_links=lost) for i, lost in enumerate(ends))
    )
    nodes = (node("worker", cut, "node-1"), node("worker2", WHOLE, "node-2"))
    assert observe(snapshot(nodes), "a").links_down == {"node-1": ("0-1", "0-2")}


def test_pods_of_other_namespaces_are_not_seen_but_take_room() -> None:
    elsewhere = pod("other", node="worker", namespace="b", limit="1")
    seen = observe(snapshot((node("worker", WHOLE, gpu="2"),), (elsewhere,)), "a")
    assert seen.pods == {}
    assert (seen.allocatable, seen.free) == (
        {"worker": {"nvidia.com/gpu": 2}},
        {"worker": {"nvidia.com/gpu": 1}},
    )


def test_an_ended_pod_holds_nothing_and_takes_no_room() -> None:
    ended = pod("done", "GPU-a", node="worker", phase="Succeeded", limit="1")
    seen = observe(snapshot((node("worker", WHOLE, gpu="2"),), (ended,)), "a")
    assert seen.pods["done"] == PodSeen("Succeeded", "worker")
    assert seen.free == {"worker": {"nvidia.com/gpu": 2}}


def test_a_cordoned_node_is_not_in_the_yard() -> None:
    cordoned = node("worker", WHOLE, gpu="2") | {"spec": {"unschedulable": True}}
    assert observe(snapshot((cordoned,)), "a").allocatable == {}


def test_a_waiting_pod_has_the_codes_of_its_explanation() -> None:
    waiting = pod("late", phase="Pending")
    waiting["status"]["conditions"] = [{"type": "PodScheduled", "status": "False"}]
    explained = {"code": "InsufficientGPUs", "nodes": [{"node": "worker", "reason": "GPUUnhealthy"}]}
    nodes = (node("worker", WHOLE, "node-1"),)
    seen = observe(snapshot(nodes, (waiting,), explained={"late": explained}), "a").pods["late"]
    assert (seen.code, seen.reasons, seen.judged) == ("InsufficientGPUs", {"node-1": "GPUUnhealthy"}, True)


def test_a_pod_counts_as_judged_once_somebody_has_said_that_it_waits() -> None:
    assert not observe(snapshot(pods=(pod("new", phase="Pending"),)), "a").pods["new"].judged


def test_groups_reservations_and_logs_are_seen() -> None:
    condition = {"type": "Scheduled", "status": "False", "reason": "GangWaiting", "message": "1/2"}
    groups = (
        {"metadata": {"name": "g"}, "status": {"conditions": [condition]}},
        {"metadata": {"name": "new"}},
    )
    reservations = ({"metadata": {"name": "z"}}, {"metadata": {"name": "g"}})
    seen = observe(snapshot(groups=groups, reservations=reservations, logs={"a/main": "A=1\nB=2\n"}), "a")
    assert seen.groups == {"g": GroupSeen("False", "GangWaiting", "1/2"), "new": GroupSeen("", "")}
    assert seen.groups["g"].message == "1/2"
    assert seen.reservations == ("g", "z")
    assert seen.sees == {"a/main": ("A=1", "B=2")}


def test_what_differs_between_backends_is_not_compared() -> None:
    early = snapshot(pods=(pod("a", phase="Pending"),), logs={"a/main": "UID=1"})
    late = snapshot(pods=(pod("a", phase="Pending"),), logs={"a/main": "UID=2"})
    late.pods[0]["status"]["conditions"] = [{"type": "PodScheduled", "status": "False"}]
    assert observe(early, "a") == observe(late, "a")


def test_an_id_that_no_inventory_names_is_shown_as_it_is() -> None:
    seen = observe(snapshot((node("worker", gpu="1"),), (pod("a", "GPU-z", node="worker"),)), "a")
    assert seen.pods["a"].devices == {"main": ("GPU-z",)}


def test_held_devices_are_those_of_the_status_alone() -> None:
    assert held_devices(pod("a", "GPU-a")) == {"main": ("GPU-a",)}
    assert held_devices({"metadata": {"name": "a"}}) == {}
    assert is_live({"status": {}})
    assert not is_live(pod("a", phase="Failed"))
