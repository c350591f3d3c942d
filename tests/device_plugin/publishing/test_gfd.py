"""The labels agree with the device list: count, replicas, product, MIG profiles."""

import pytest

from gpuyard.hardware.gpus import GPU, Instance, gpu_uuid
from gpuyard.hardware.inventory import Inventory, MigStrategy, Sharing, SharingMode
from gpuyard_device_plugin.publishing.gfd import labels

A100 = "NVIDIA-A100-SXM4-40GB"


def gpu(index: int, *profiles: str, model: str = A100, memory: int = 40960) -> GPU:
    found = tuple(Instance(name, i, 1, f"MIG-{index}-{i}") for i, name in enumerate(profiles))
    return GPU(index, gpu_uuid("n", index), model, memory, mig_enabled=bool(found), instances=found)


def test_whole_gpus() -> None:
    assert labels(Inventory((gpu(0), gpu(1)))) == {
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.product": A100,
        "nvidia.com/gpu.count": "2",
        "nvidia.com/gpu.memory": "40960",
        "nvidia.com/gpu.replicas": "1",
        "nvidia.com/gpu.sharing-strategy": "none",
        "nvidia.com/gpu.family": "ampere",
        "nvidia.com/gpu.compute.major": "8",
        "nvidia.com/gpu.compute.minor": "0",
        "nvidia.com/mig.capable": "true",
    }


def test_no_gpus_no_labels() -> None:
    assert labels(Inventory()) == {}


def test_a_model_without_mig_says_so() -> None:
    assert labels(Inventory((gpu(0, model="Tesla-T4"),)))["nvidia.com/mig.capable"] == "false"


def test_shares_show_in_replicas_and_in_the_product_unless_renamed() -> None:
    shared = labels(Inventory((gpu(0),), Sharing(SharingMode.TIME_SLICING, 10)))
    renamed = labels(Inventory((gpu(0),), Sharing(SharingMode.MPS, 10, renamed=True)))
    assert (shared["nvidia.com/gpu.product"], shared["nvidia.com/gpu.replicas"]) == (f"{A100}-SHARED", "10")
    assert (renamed["nvidia.com/gpu.product"], renamed["nvidia.com/gpu.replicas"]) == (A100, "10")
    assert renamed["nvidia.com/gpu.sharing-strategy"] == "mps"
    assert renamed["nvidia.com/gpu.count"] == "1"


def test_mixed_counts_physical_gpus_beside_one_group_for_each_profile() -> None:
    gpus = (gpu(0, "1g.5gb", "1g.5gb", "1g.5gb+me"), gpu(1, "1g.5gb"), gpu(2))
    found = labels(Inventory(gpus, mig_strategy=MigStrategy.MIXED))
    assert found["nvidia.com/gpu.count"] == "3"
    assert found["nvidia.com/gpu.replicas"] == "1"
    assert found["nvidia.com/mig.strategy"] == "mixed"
    assert found["nvidia.com/mig-1g.5gb.count"] == "3"
    assert found["nvidia.com/mig-1g.5gb.product"] == f"{A100}-MIG-1g.5gb"
    assert found["nvidia.com/mig-1g.5gb.slices.gi"] == "1"
    assert int(found["nvidia.com/mig-1g.5gb.memory"]) in range(4096, 5121)
    assert found["nvidia.com/mig-1g.5gb.me.count"] == "1"


def test_mixed_without_a_whole_gpu_has_no_replicas_of_it() -> None:
    found = labels(Inventory((gpu(0, "1g.5gb"),), mig_strategy=MigStrategy.MIXED))
    assert (found["nvidia.com/gpu.count"], found["nvidia.com/gpu.replicas"]) == ("1", "0")


@pytest.mark.parametrize("strategy", MigStrategy)
def test_gpus_with_mig_switched_off_have_no_mig_devices_whatever_the_strategy(strategy: MigStrategy) -> None:
    """What can be cut on demand has labels of its own once it is."""
    found = labels(Inventory((gpu(0), gpu(1)), mig_strategy=strategy))
    assert {name for name in found if name.startswith("nvidia.com/mig")} <= {
        "nvidia.com/mig.capable",
        "nvidia.com/mig.strategy",
    }
    assert (found["nvidia.com/gpu.product"], found["nvidia.com/gpu.count"]) == (A100, "2")


def test_single_counts_mig_devices() -> None:
    gpus = (gpu(0, "3g.20gb", "3g.20gb"), gpu(1, "3g.20gb"))
    found = labels(Inventory(gpus, mig_strategy=MigStrategy.SINGLE))
    assert found["nvidia.com/gpu.product"] == f"{A100}-MIG-3g.20gb"
    assert found["nvidia.com/gpu.count"] == "3"
    assert int(found["nvidia.com/gpu.memory"]) < 40960 // 2 + 1
    assert found["nvidia.com/gpu.slices.gi"] == "3"


def test_strategy_none_does_not_look_at_mig_mode() -> None:
    assert labels(Inventory((gpu(0, "1g.5gb"),))) == labels(Inventory((gpu(0),)))


def test_one_product_wins_that_of_the_first_whole_gpu() -> None:
    gpus = (gpu(0, "1g.5gb"), gpu(1, model="Tesla-T4", memory=15360), gpu(2))
    found = labels(Inventory(gpus, mig_strategy=MigStrategy.MIXED))
    assert (found["nvidia.com/gpu.product"], found["nvidia.com/gpu.count"]) == ("Tesla-T4", "1")


def test_dynamic_counts_what_there_is_now_and_gpus_that_are_cut_too() -> None:
    gpus = (gpu(0, "1g.5gb", "3g.20gb"), gpu(1, model="Tesla-T4", memory=15360))
    found = labels(Inventory(gpus, mig_strategy=MigStrategy.DYNAMIC))
    assert (found["nvidia.com/gpu.product"], found["nvidia.com/gpu.replicas"]) == (A100, "1")
    assert found["nvidia.com/mig.strategy"] == "dynamic"
    assert (found["nvidia.com/mig-1g.5gb.count"], found["nvidia.com/mig-3g.20gb.count"]) == ("1", "1")
    assert "nvidia.com/mig-2g.10gb.count" not in found


def test_a_shared_mig_resource_says_so_and_the_others_do_not() -> None:
    sharing = Sharing(SharingMode.TIME_SLICING, instances=(("nvidia.com/mig-1g.5gb", 2),))
    cut = gpu(0, "1g.5gb", "2g.10gb")
    found = labels(Inventory((cut, gpu(1)), sharing, MigStrategy.MIXED))
    words = ("product", "replicas", "sharing-strategy", "count")
    told = {
        group: [found[f"nvidia.com/{group}.{word}"] for word in words]
        for group in ("gpu", "mig-1g.5gb", "mig-2g.10gb")
    }
    assert told == {
        "gpu": [A100, "1", "none", "2"],
        "mig-1g.5gb": [f"{A100}-MIG-1g.5gb-SHARED", "2", "time-slicing", "1"],
        "mig-2g.10gb": [f"{A100}-MIG-2g.10gb", "1", "none", "1"],
    }
