"""What a container gets with its devices under each strategy, as NVIDIA's plugin answers."""

import pytest

from gpuyard import vocabulary
from gpuyard.hardware.gpus import Instance
from gpuyard.hardware.inventory import Inventory, MigStrategy, Sharing, SharingMode
from gpuyard.pods.limits import Limits
from gpuyard_device_plugin.allocating import wire
from gpuyard_device_plugin.config.config import DeviceIdStrategy, DeviceListStrategy, PluginConfig
from gpuyard_device_plugin.containers import cdi
from gpuyard_device_plugin.containers.grants import Grant, grant
from gpuyard_device_plugin.devices.devices import DeviceTable
from tests.device_plugin.fakes import gpus

GPU = vocabulary.GPU
TWO = Inventory(gpus(2))
FIRST, SECOND = (device.id for device in TWO.devices())
INDEX = DeviceIdStrategy.INDEX


def by(*strategies: DeviceListStrategy, ids: DeviceIdStrategy = DeviceIdStrategy.UUID) -> PluginConfig:
    return PluginConfig(device_list=strategies, device_id=ids)


def both(config: PluginConfig) -> Grant:
    return grant(TWO, config, TWO.devices())


def test_by_default_a_variable_names_the_devices_once_and_by_index() -> None:
    table = DeviceTable.of(Inventory(gpus(2), Sharing(SharingMode.TIME_SLICING, 4)))
    names = list(table.by_id)
    devices = table.find(GPU, [names[5], names[1], names[0]])
    given = grant(table.inventory, PluginConfig(), devices)
    assert given == Grant({"NVIDIA_VISIBLE_DEVICES": f"{FIRST},{SECOND}"})


def test_mps_adds_the_limits_of_a_client() -> None:
    table = DeviceTable.of(Inventory(gpus(2), Sharing(SharingMode.MPS, 3)))
    names = list(table.by_id)
    given = grant(table.inventory, PluginConfig(), table.find(GPU, [names[4], names[0]]))
    assert given.envs == {
        "NVIDIA_VISIBLE_DEVICES": f"{FIRST},{SECOND}",
        "CUDA_MPS_PIPE_DIRECTORY": "/mps/nvidia.com/gpu/pipe",
        "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT": "0=13653M,1=13653M",
        "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": "33",
    }


def test_an_mps_client_gets_what_its_pod_says_and_never_no_thread_at_all() -> None:
    inventory = Inventory(gpus(1), Sharing(SharingMode.MPS, 10))
    found = [
        (given.envs["CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"], given.envs["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"])
        for limited in (Limits(250), Limits(mib=10240), Limits(5, 512))
        for given in [grant(inventory, PluginConfig(), inventory.devices()[3:4], limited)]
    ]
    assert found == [("0=10240M", "25"), ("0=10240M", "25"), ("0=512M", "1")]


def test_volume_mounts_are_files_in_a_folder_that_the_variable_names() -> None:
    given = both(by(DeviceListStrategy.VOLUME_MOUNTS, DeviceListStrategy.ENVVAR))
    assert given.envs == {"NVIDIA_VISIBLE_DEVICES": "/var/run/nvidia-container-devices"}
    assert given.mounts == {
        f"/var/run/nvidia-container-devices/{name}": "/dev/null" for name in (FIRST, SECOND)
    }


def test_cdi_names_the_devices_and_sets_no_variable() -> None:
    given = both(by(DeviceListStrategy.CDI_CRI, DeviceListStrategy.CDI_ANNOTATIONS))
    names = tuple(f"k8s.device-plugin.nvidia.com/gpu={name}" for name in (FIRST, SECOND))
    assert (given.envs, given.cdi_devices) == ({}, names)
    [(key, text)] = given.annotations.items()
    assert key.startswith("cdi.k8s.io/nvidia-device-plugin_")
    assert text == ",".join(names)


def test_indexes_are_those_of_the_gpu_and_of_the_instance_on_it() -> None:
    assert both(by(DeviceListStrategy.ENVVAR, ids=INDEX)).envs == {"NVIDIA_VISIBLE_DEVICES": "0,1"}
    instances = (Instance("1g.5gb", 4, 1, "MIG-b"), Instance("1g.5gb", 0, 1, "MIG-a"))
    split = Inventory(gpus(1, mig_enabled=True, instances=instances), mig_strategy=MigStrategy.MIXED)
    given = grant(split, by(DeviceListStrategy.ENVVAR, ids=INDEX), split.devices())
    assert given.envs == {"NVIDIA_VISIBLE_DEVICES": "0:0,0:1"}


def test_the_kubelet_is_told_all_of_it() -> None:
    answer = wire.allocated(Grant({"A": "1"}, {"/in": "/out"}, {"note": "x"}, ("a=b",)))
    assert dict(answer.envs) == {"A": "1"}
    assert [(m.container_path, m.host_path, m.read_only) for m in answer.mounts] == [("/in", "/out", True)]
    assert dict(answer.annotations) == {"note": "x"}
    assert [device.name for device in answer.cdi_devices] == ["a=b"]


@pytest.mark.parametrize("strategy", [DeviceListStrategy.CDI_CRI, DeviceListStrategy.CDI_ANNOTATIONS])
def test_every_name_that_a_container_can_get_is_in_the_cdi_specification(
    strategy: DeviceListStrategy,
) -> None:
    document = cdi.specification(TWO, by(strategy, ids=INDEX))
    assert document is not None
    named = [f"{document['kind']}={device['name']}" for device in document["devices"]]
    assert named == [f"k8s.device-plugin.nvidia.com/gpu={index}" for index in "01"]
    assert all(device["containerEdits"]["env"] for device in document["devices"])


def test_there_is_no_cdi_specification_where_nobody_needs_one() -> None:
    assert cdi.specification(TWO, PluginConfig()) is None
    assert cdi.specification(Inventory(), by(DeviceListStrategy.CDI_CRI)) is None
