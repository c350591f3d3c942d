"""GPUs and configuration give an inventory, or an error that says what contradicts what."""

import dataclasses

import pytest

from gpuyard.hardware.gpus import GPU, Instance, gpu_uuid
from gpuyard.hardware.inventory import MigStrategy, Sharing, SharingMode
from gpuyard_device_plugin.config.config import DeviceIdStrategy, InvalidConfigError, PluginConfig
from gpuyard_device_plugin.devices.node_inventory import MESSAGE_LIMIT, _entry_bytes, build
from gpuyard_device_plugin.kubelet_api import deviceplugin_v1beta1_pb2 as kubelet


def gpu(index: int = 0, model: str = "NVIDIA-A100-SXM4-40GB", *profiles: str, mig: bool = False) -> GPU:
    found = tuple(Instance(name, i, 1, f"MIG-{index}-{i}") for i, name in enumerate(profiles))
    return GPU(index, gpu_uuid("n", index), model, 40960, mig_enabled=mig or bool(found), instances=found)


def sliced(replicas: int, mode: SharingMode = SharingMode.TIME_SLICING) -> PluginConfig:
    return PluginConfig(sharing=Sharing(mode, replicas))


def test_gpus_come_by_index() -> None:
    assert [found.index for found in build((gpu(2), gpu(0), gpu(1)), PluginConfig()).gpus] == [0, 1, 2]


def test_replicas_multiply_the_devices() -> None:
    assert len(build((gpu(0), gpu(1)), sliced(10)).devices()) == 20


def test_an_empty_mig_gpu_does_not_block_the_others() -> None:
    inventory = build((gpu(0, mig=True), gpu(1)), PluginConfig(MigStrategy.MIXED))
    assert [device.gpu for device in inventory.devices()] == [1]


@pytest.mark.parametrize(
    ("gpus", "problem"),
    [
        ((gpu(0), gpu(1, mig=True)), "same migEnabled value"),
        ((gpu(0, mig=True),), "device 0 has no MIG devices configured"),
        ((gpu(0, "NVIDIA-A30", "1g.6gb"), gpu(1, "NVIDIA-A30", "2g.12gb")), "more than one MIG device type"),
    ],
)
def test_strategy_single_wants_all_alike(gpus: tuple[GPU, ...], problem: str) -> None:
    with pytest.raises(InvalidConfigError, match=problem):
        build(gpus, PluginConfig(MigStrategy.SINGLE))


def test_mig_devices_are_shared_by_time_slicing_only() -> None:
    split = gpu(0, "NVIDIA-A30", "1g.6gb", "1g.6gb")
    single = dataclasses.replace(sliced(2), mig_strategy=MigStrategy.SINGLE)
    assert [device.id for device in build((split,), single).devices()] == [
        f"MIG-0-{place}::{replica}" for place in (0, 1) for replica in (0, 1)
    ]
    with pytest.raises(InvalidConfigError, match="MPS does not go with MIG devices"):
        build((split,), dataclasses.replace(sliced(2, SharingMode.MPS), mig_strategy=MigStrategy.SINGLE))


def test_a_list_of_mig_shares_that_the_kubelet_could_not_take_is_refused_too() -> None:
    sharing = Sharing(SharingMode.TIME_SLICING, instances=(("nvidia.com/mig-1g.6gb", 10**8),))
    with pytest.raises(InvalidConfigError, match="1 nvidia.com/mig-1g.6gb x 100000000 make a device list"):
        build((gpu(0, "NVIDIA-A30", "1g.6gb"),), PluginConfig(MigStrategy.MIXED, sharing))


def test_mps_has_a_limit_of_clients() -> None:
    build((gpu(),), sliced(48, SharingMode.MPS))
    with pytest.raises(InvalidConfigError, match="at most 48"):
        build((gpu(),), sliced(49, SharingMode.MPS))


def test_a_list_that_the_kubelet_could_not_take_is_refused_before_it_is_made() -> None:
    build((gpu(0), gpu(1)), sliced(30_000))
    with pytest.raises(InvalidConfigError, match="fewer replicas"):
        build((gpu(0), gpu(1)), sliced(10**9))


@pytest.mark.parametrize("replicas", [2, 1_000, 60_000])
def test_the_size_of_an_entry_is_never_underestimated(replicas: int) -> None:
    name = f"{gpu_uuid('n', 0)}::{replicas - 1}"
    topology = kubelet.TopologyInfo(nodes=[kubelet.NUMANode(ID=127)])
    device = kubelet.Device(ID=name, health="Unhealthy", topology=topology)
    assert kubelet.ListAndWatchResponse(devices=[device]).ByteSize() <= _entry_bytes(replicas)
    assert _entry_bytes(replicas) * 2 < MESSAGE_LIMIT


@pytest.mark.parametrize(
    ("gpus", "config", "field"),
    [
        ((gpu(0), gpu(1, mig=True)), PluginConfig(MigStrategy.DYNAMIC), "flags.migStrategy"),
        (
            (gpu(0),),
            PluginConfig(MigStrategy.DYNAMIC, Sharing(SharingMode.TIME_SLICING, 2)),
            "flags.migStrategy",
        ),
        (
            (gpu(0),),
            PluginConfig(MigStrategy.DYNAMIC, device_id=DeviceIdStrategy.INDEX),
            "flags.plugin.deviceIDStrategy",
        ),
    ],
    ids=["a layout", "shares", "indexes"],
)
def test_strategy_dynamic_wants_nothing_that_counts_on_instances(
    gpus: tuple[GPU, ...], config: PluginConfig, field: str
) -> None:
    with pytest.raises(InvalidConfigError, match=field):
        build(gpus, config)
