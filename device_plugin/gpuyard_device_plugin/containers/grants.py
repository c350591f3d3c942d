"""What a container gets with its devices: variables, mounts, annotations, CDI names.

Stands for the answer half of NVIDIA's internal/plugin/server.go. It depends on the strategies of the configuration:

| deviceListStrategy | what the container gets |
|---|---|
| envvar | NVIDIA_VISIBLE_DEVICES with the ids |
| volume-mounts | NVIDIA_VISIBLE_DEVICES with a folder, and in it one mount of /dev/null for each id |
| cdi-annotations | an annotation that names the devices of the CDI specification (`cdi.py`) |
| cdi-cri | the same names in the CRI's own field |
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gpuyard.hardware.inventory import Device, Inventory, SharingMode
from gpuyard.pods import limits
from gpuyard.pods.limits import Limits
from gpuyard_device_plugin.config.config import DeviceIdStrategy, DeviceListStrategy, PluginConfig

MOUNTS: Final = "/var/run/nvidia-container-devices"
CDI_KIND: Final = "k8s.device-plugin.nvidia.com/gpu"
_VISIBLE: Final = "NVIDIA_VISIBLE_DEVICES"


@dataclass(frozen=True, slots=True)
class Grant:
    """The answer to one container. `mounts`: path in the container -> path on the host."""

    envs: Mapping[str, str] = field(default_factory=dict)
    mounts: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    cdi_devices: tuple[str, ...] = ()


def grant(
    inventory: Inventory, config: PluginConfig, devices: Sequence[Device], limited: Limits = limits.NONE
) -> Grant:
    """What a container of a pod that is `limited` gets with these devices, which are in the table's order."""
    names = _names(inventory, config, devices)
    qualified = tuple(f"{CDI_KIND}={name}" for name in names)
    envs, mounts, notes = _mps(inventory, devices, limited), dict[str, str](), dict[str, str]()
    if DeviceListStrategy.ENVVAR in config.device_list:
        envs[_VISIBLE] = ",".join(names)
    if DeviceListStrategy.VOLUME_MOUNTS in config.device_list:
        envs[_VISIBLE] = MOUNTS
        mounts = {f"{MOUNTS}/{name}": "/dev/null" for name in names}
    if DeviceListStrategy.CDI_ANNOTATIONS in config.device_list:
        # NVIDIA takes any UUID; this one is the same for the same devices.
        key = uuid.uuid5(uuid.NAMESPACE_OID, ",".join(names))
        notes = {f"{config.cdi_annotation_prefix}nvidia-device-plugin_{key}": ",".join(qualified)}
    by_cri = DeviceListStrategy.CDI_CRI in config.device_list
    return Grant(dict(sorted(envs.items())), mounts, notes, qualified if by_cri else ())


def visible_names(inventory: Inventory, config: PluginConfig) -> tuple[str, ...]:
    """The names that any container could get on this node, each once."""
    return tuple(_names(inventory, config, inventory.devices()))


def _names(inventory: Inventory, config: PluginConfig, devices: Sequence[Device]) -> list[str]:
    """Without what numbers the shares: a container that got two shares of a GPU sees it once."""
    bare = list(dict.fromkeys(device.id.partition("::")[0] for device in devices))
    if config.device_id is DeviceIdStrategy.UUID:
        return bare
    indexes = _indexes(inventory)
    return [indexes[name] for name in bare]


def _indexes(inventory: Inventory) -> dict[str, str]:
    """UUID -> index as NVML counts: 3, and 3:1 for the second MIG device of GPU 3."""
    found: dict[str, str] = {}
    for gpu in inventory.gpus:
        found[gpu.uuid] = str(gpu.index)
        for number, instance in enumerate(sorted(gpu.instances, key=lambda instance: instance.start)):
            found[instance.uuid] = f"{gpu.index}:{number}"
    return found


def _mps(inventory: Inventory, devices: Sequence[Device], limited: Limits) -> dict[str, str]:
    """The limits that the MPS daemon would set for each client, by ordinal within the container.

    A pod that says how much it may use gets just that.
    """
    if inventory.sharing.mode is not SharingMode.MPS or any(device.replica is None for device in devices):
        return {}
    replicas, held = inventory.sharing.replicas, {device.gpu for device in devices}
    gpus = [gpu for gpu in inventory.gpus if gpu.index in held]
    memory = [limited.on(gpu).mib if limited else gpu.memory_mib // replicas for gpu in gpus]
    percent = limited.on(gpus[0]).milli // 10 if limited else 100 // replicas
    return {
        "CUDA_MPS_PIPE_DIRECTORY": f"/mps/{devices[0].resource}/pipe",
        "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT": ",".join(f"{n}={mib}M" for n, mib in enumerate(memory)),
        "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": str(max(1, percent)),
    }
