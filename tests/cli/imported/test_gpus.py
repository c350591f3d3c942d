"""The GPUs of an existing node, from labels as gpu-feature-discovery writes them on real ones."""

from collections import Counter
from dataclasses import replace

import pytest

from gpuyard import vocabulary
from gpuyard.annotations import write_inventory
from gpuyard.hardware import topology
from gpuyard.hardware.gpus import GPU, Instance, gpu_uuid
from gpuyard.hardware.inventory import Inventory, MigStrategy, Sharing, SharingMode
from gpuyard.writes import JSON
from gpuyard_cli.imported import gpus
from gpuyard_cli.imported.notes import Notes
from gpuyard_device_plugin.config import config

H100 = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.count": "8"}
T4 = {
    "nvidia.com/gpu.product": "Tesla-T4-SHARED",
    "nvidia.com/gpu.count": "1",
    "nvidia.com/gpu.memory": "15360",
}


def gpu(index: int) -> GPU:
    return GPU(index, gpu_uuid("n", index), "NVIDIA-A100-SXM4-40GB", 40960)


def node(labels: dict[str, str], healthy: dict[str, str], **capacity: str) -> JSON:
    """`healthy` is allocatable; `capacity` says where it differs from that."""
    renamed = {f"nvidia.com/{key}": count for key, count in capacity.items()}
    status = {"allocatable": healthy, "capacity": healthy | renamed}
    return {"kind": "Node", "metadata": {"name": "n", "labels": labels}, "status": status}


def read(found: JSON) -> tuple[Inventory, str]:
    notes = Notes()
    return gpus.inventory_of(found, notes), "\n".join(notes.lines())


def offered(inventory: Inventory) -> Counter[str]:
    return Counter(device.resource for device in inventory.devices() if device.healthy)


def test_whole_gpus_are_counted_and_hung_up_as_in_the_machine_that_they_seem_to_be() -> None:
    inventory, said = read(node(H100, {"nvidia.com/gpu": "8", "cpu": "224"}))
    assert offered(inventory) == {"nvidia.com/gpu": 8}
    assert topology.nearness(inventory.gpus[0], inventory.gpus[7]) == topology.NVLINK
    assert said == "where GPUs hang (NUMA, PCIe, NVLink) is in no label: assumed as in dgx-h100: n"


def test_gpus_that_are_cut_on_demand_are_imported_uncut() -> None:
    cut = replace(gpu(0), mig_enabled=True, instances=(Instance("1g.5gb", 6, 1, "MIG-x"),))
    found = node({}, {})
    notes = {vocabulary.INVENTORY: write_inventory(Inventory((cut,), mig_strategy=MigStrategy.DYNAMIC))}
    found["metadata"]["annotations"] = notes
    inventory, said = read(found)
    assert (inventory, said) == (Inventory((gpu(0),), mig_strategy=MigStrategy.DYNAMIC), "")
    assert gpus.plugin_config(inventory)["flags"] == {"migStrategy": "dynamic"}


def test_a_model_that_is_not_known_keeps_its_name_and_memory() -> None:
    labels = {"nvidia.com/gpu.product": "NVIDIA-X1", "nvidia.com/gpu.memory": "1000"}
    inventory, said = read(node(labels, {"nvidia.com/gpu": "2"}))
    assert [(gpu.model, gpu.memory_mib) for gpu in inventory.gpus] == [("NVIDIA-X1", 1000)] * 2
    assert "assumed to be all on one switch" in said


def test_without_labels_gpus_are_counted_and_that_is_said() -> None:
    inventory, said = read(node({}, {"nvidia.com/gpu": "3"}))
    assert (offered(inventory), inventory.gpus[0].model) == ({"nvidia.com/gpu": 3}, "Unknown-GPU")
    assert "their model is unknown: n" in said


@pytest.mark.parametrize(
    ("resource", "renamed"), [("nvidia.com/gpu", False), ("nvidia.com/gpu.shared", True)]
)
def test_shares_are_divided_by_their_number(resource: str, renamed: bool) -> None:
    labels = {**T4, "nvidia.com/gpu.replicas": "4", "nvidia.com/gpu.sharing-strategy": "time-slicing"}
    inventory, said = read(node(labels, {resource: "4"}))
    assert inventory.sharing == Sharing(SharingMode.TIME_SLICING, 4, renamed)
    assert [gpu.model for gpu in inventory.gpus] == ["Tesla-T4"]
    assert offered(inventory) == {resource: 4}
    assert "failRequestsGreaterThanOne is in no label" in said


def test_mixed_strategy_has_whole_gpus_and_split_ones_beside_them() -> None:
    labels = {**H100, "nvidia.com/mig.strategy": "mixed"}
    found = {"nvidia.com/gpu": "6", "nvidia.com/mig-1g.10gb": "4", "nvidia.com/mig-3g.40gb": "2"}
    inventory, said = read(node(labels, found))
    assert offered(inventory) == {name: int(count) for name, count in found.items()}
    assert [gpu.mig_enabled for gpu in inventory.gpus] == [False] * 6 + [True] * 2
    assert "spread evenly: n" in said


def test_single_strategy_has_as_few_gpus_as_can_hold_its_instances() -> None:
    labels = {
        "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb",
        "nvidia.com/gpu.count": "14",
        "nvidia.com/gpu.memory": "4864",
        "nvidia.com/mig.strategy": "single",
    }
    inventory, _ = read(node(labels, {"nvidia.com/gpu": "14"}))
    assert (len(inventory.gpus), inventory.gpus[0].memory_mib) == (2, 40960)
    assert (offered(inventory), inventory.mig_strategy) == ({"nvidia.com/gpu": 14}, MigStrategy.SINGLE)


def test_instances_of_a_board_that_is_not_known_are_left_out_and_that_is_said() -> None:
    labels = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.count": "1"}
    inventory, said = read(node(labels, {"nvidia.com/mig-3g.40gb": "3"}))
    assert (offered(inventory), "no known board can hold" in said) == ({}, True)


def test_gpus_that_are_missing_in_allocatable_are_unhealthy() -> None:
    inventory, said = read(node(H100, {"nvidia.com/gpu": "6"}, gpu="8"))
    assert [gpu.healthy for gpu in inventory.gpus] == [True] * 6 + [False] * 2
    assert "assumed to be the last ones: n" in said


def test_a_node_without_devices_has_no_gpus_whatever_its_labels_say() -> None:
    assert read(node(H100, {"cpu": "8"})) == (Inventory(), "")


@pytest.mark.parametrize(
    "label", ["gpu.count", "gpu.memory", "gpu.replicas", "mig.strategy", "gpu.sharing-strategy"]
)
def test_a_label_that_makes_no_sense_is_as_good_as_none(label: str) -> None:
    inventory, _ = read(node({**H100, f"nvidia.com/{label}": "-x²"}, {"nvidia.com/gpu": "8"}))
    assert offered(inventory) == {"nvidia.com/gpu": 8}


@pytest.mark.parametrize("replicas", [1, 4])
def test_shares_of_mig_resources_are_kept(replicas: int) -> None:
    mig = ("nvidia.com/mig-1g.5gb", 2)
    sharing = Sharing(SharingMode.TIME_SLICING, replicas, renamed=True, instances=(mig,))
    found = gpus.plugin_config(Inventory((), sharing, MigStrategy.MIXED))
    assert config.parse(found).sharing == sharing
