"""Under NVIDIA's names: who has a part of a GPU is taken to use all of that part."""

import dataclasses

from gpuyard.hardware.gpus import Instance
from gpuyard.hardware.inventory import Inventory, MigStrategy, Sharing, SharingMode
from gpuyard.pods.limits import Limits
from gpuyard_device_plugin import dcgm
from gpuyard_device_plugin.allocating.accounting import Holder
from tests.device_plugin.fakes import NODE, gpus, pod
from tests.device_plugin.test_metrics import scraped
from tests.device_plugin.world import World

A, B = Holder("default", "a", "train"), Holder("default", "b", "train")
MEMORY = gpus(1)[0].memory_mib


def values(
    inventory: Inventory, holders: dict[str, set[Holder]], xids: dict[int, int] | None = None
) -> dict[tuple[str, str, str], float]:
    """By the end of the field's name, the GPU's index and the pod."""
    return {
        (family.name.removeprefix("DCGM_FI_DEV_"), sample.labels["gpu"], sample.labels["pod"]): sample.value
        for family in dcgm.metrics(NODE, inventory, holders, xids or {})
        for sample in family.samples
    }


def test_a_whole_gpu_is_all_used_or_free() -> None:
    inventory = Inventory(gpus(2))
    found = values(inventory, {inventory.devices()[1].id: {A}})
    assert (found["FB_USED", "1", "a"], found["FB_FREE", "1", "a"], found["GPU_UTIL", "1", "a"]) == (
        MEMORY,
        0,
        100,
    )
    assert (found["FB_USED", "0", ""], found["FB_FREE", "0", ""], found["GPU_UTIL", "0", ""]) == (
        0,
        MEMORY,
        0,
    )


def test_of_a_shared_gpu_the_shares_that_are_held_are_used_and_each_holder_is_named() -> None:
    inventory = Inventory(gpus(1), Sharing(SharingMode.TIME_SLICING, 4, renamed=True))
    first, second, *_ = inventory.devices()
    found = values(inventory, {first.id: {A}, second.id: {B}})
    for who in ("a", "b"):
        assert found["FB_USED", "0", who] == MEMORY // 4 * 2
        assert found["GPU_UTIL", "0", who] == 50


def test_of_a_share_that_its_pod_limits_just_that_is_used() -> None:
    inventory = Inventory(gpus(1), Sharing(SharingMode.TIME_SLICING, 4, renamed=True))
    first, second, *_ = inventory.devices()
    limited = Holder("default", "a", "train", Limits(mib=4096))
    found = values(inventory, {first.id: {limited}, second.id: {B}})
    assert found["FB_USED", "0", "a"] == found["FB_USED", "0", "b"] == 4096 + MEMORY // 4


def test_of_a_sliced_gpu_the_slices_that_are_held_are_used() -> None:
    instances = (Instance("3g.20gb", 0, 4, "MIG-a"), Instance("2g.10gb", 4, 2, "MIG-b"))
    split = gpus(1, mig_enabled=True, instances=instances)
    inventory = Inventory(split, mig_strategy=MigStrategy.MIXED)
    found = values(inventory, {"MIG-a": {A}})
    assert found["FB_USED", "0", "a"] == MEMORY * 4 // 8
    assert found["FB_USED", "0", "a"] + found["FB_FREE", "0", "a"] == MEMORY


def test_a_gpu_that_is_sick_has_an_xid() -> None:
    well, sick = gpus(2)
    inventory = Inventory((well, dataclasses.replace(sick, healthy=False)))
    found = values(inventory, {})
    assert (found["XID_ERRORS", "0", ""], found["XID_ERRORS", "1", ""]) == (0, dcgm.FALLEN_OFF_THE_BUS)


def test_an_xid_is_told_whether_or_not_it_makes_the_gpu_sick() -> None:
    found = values(Inventory(gpus(2)), {}, {0: 13})
    assert (found["XID_ERRORS", "0", ""], found["XID_ERRORS", "1", ""]) == (13, 0)


def test_a_scraper_finds_them_with_the_exporters_labels() -> None:
    world = World()
    world.admit(pod("a", {"train": 1}, {"train": world.ids(3)}))
    [family] = [
        f for f in dcgm.metrics(NODE, world.plugin.inventory, world.plugin.holders(), {}) if "USED" in f.name
    ]
    [held] = [sample.labels for sample in family.samples if sample.labels["pod"]]
    assert held == {
        "gpu": "3", "UUID": world.ids(3)[0], "device": "nvidia3", "modelName": gpus(1)[0].model, "Hostname": NODE,
        "namespace": "default", "pod": "a", "container": "train",
    }  # fmt: skip
    assert any(name.startswith("DCGM_FI_DEV_FB_USED") for name in scraped(world))
