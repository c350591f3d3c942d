import dataclasses
from collections import Counter

import pytest

from gpuyard.hardware.inventory import Device, Inventory, MigStrategy, Sharing, SharingMode
from tests.gpuyard.builders import GPU_RESOURCE, ONE_G, SHARED, gpus, sick, split

WHOLE = gpus(2)
MIXED = (WHOLE[0], split(WHOLE[1], "1g.5gb", "3g.20gb"))


def test_whole_gpus_are_one_device_each() -> None:
    assert Inventory(WHOLE).devices() == tuple(Device(gpu.uuid, GPU_RESOURCE, gpu.index) for gpu in WHOLE)


@pytest.mark.parametrize(("renamed", "resource"), [(False, GPU_RESOURCE), (True, SHARED)])
def test_a_shared_gpu_is_advertised_once_a_share(renamed: bool, resource: str) -> None:
    devices = Inventory(WHOLE, Sharing(SharingMode.TIME_SLICING, 2, renamed)).devices()
    assert [(device.id, device.gpu, device.replica) for device in devices] == [
        (f"{gpu.uuid}::{replica}", gpu.index, replica) for gpu in WHOLE for replica in range(2)
    ]
    assert {device.resource for device in devices} == {resource}


@pytest.mark.parametrize(
    ("strategy", "resources"),
    [
        (MigStrategy.NONE, [GPU_RESOURCE, GPU_RESOURCE]),
        (MigStrategy.SINGLE, [GPU_RESOURCE, GPU_RESOURCE, GPU_RESOURCE]),
        (MigStrategy.MIXED, [GPU_RESOURCE, ONE_G, "nvidia.com/mig-3g.20gb"]),
    ],
)
def test_the_strategy_says_how_instances_are_advertised(strategy: MigStrategy, resources: list[str]) -> None:
    assert [device.resource for device in Inventory(MIXED, mig_strategy=strategy).devices()] == resources


def test_an_instance_lies_on_its_slices_and_is_as_healthy_as_its_gpu() -> None:
    devices = Inventory((sick(MIXED[1]),), mig_strategy=MigStrategy.MIXED).devices()
    assert [(device.start, device.size, device.healthy) for device in devices] == [
        (0, 1, False),
        (4, 4, False),
    ]


def test_a_gpu_in_mig_mode_without_instances_advertises_nothing() -> None:
    assert Inventory((split(WHOLE[0]),), mig_strategy=MigStrategy.MIXED).devices() == ()


def device(start: int = 0, size: int = 0, *, gpu: int = 0, replica: int | None = None) -> Device:
    return Device(f"{gpu}:{start}:{size}:{replica}", "any", gpu, start=start, size=size, replica=replica)


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [
        (device(), device(), True),
        (device(), device(gpu=1), False),
        (device(), device(4, 4), True),
        (device(0, 4), device(4, 4), False),
        (device(0, 4), device(3, 1), True),
        (device(0, 8), device(2, 2), True),
        (device(replica=0), device(replica=1), False),
        (device(replica=0), device(replica=0), True),
        (device(replica=0), device(), True),
        (device(0, 4), device(0, 4, gpu=1), False),
    ],
)
def test_devices_overlap_where_they_share_a_part_of_a_gpu(one: Device, other: Device, overlap: bool) -> None:
    assert one.overlaps(other) is other.overlaps(one) is overlap


def test_devices_come_by_gpu_and_place_whatever_the_order_of_instances() -> None:
    turned = dataclasses.replace(MIXED[1], instances=MIXED[1].instances[::-1])
    strategy = MigStrategy.MIXED
    assert (
        Inventory((turned,), mig_strategy=strategy).devices()
        == Inventory((MIXED[1],), mig_strategy=strategy).devices()
    )


@pytest.mark.parametrize(("renamed", "suffix"), [(False, ""), (True, ".shared")])
def test_a_mig_resource_is_shared_as_often_as_it_says_and_others_are_not(renamed: bool, suffix: str) -> None:
    sharing = Sharing(SharingMode.TIME_SLICING, renamed=renamed, instances=((ONE_G, 2),))
    whole, other = gpus(2)
    cut = split(whole, "1g.5gb", "2g.10gb")
    found = Inventory((cut, other), sharing, MigStrategy.MIXED).devices()
    assert Counter(device.resource for device in found) == {
        ONE_G + suffix: 2,
        "nvidia.com/mig-2g.10gb": 1,
        GPU_RESOURCE: 1,
    }
    first, second = (device for device in found if device.replica is not None)
    [alone] = [device for device in found if device.resource == "nvidia.com/mig-2g.10gb"]
    assert (first.overlaps(second), first.overlaps(first), first.overlaps(alone)) == (False, True, False)
    assert first.place == second.place != alone.place
