"""What the plugin makes of a node's GPUs under a configuration, checked as a whole.

Stands for NVIDIA's resource manager (internal/rm) and the checks that it makes at its start.
"""

from collections import Counter
from typing import Final

from gpuyard.hardware.gpus import GPU
from gpuyard.hardware.inventory import Inventory, MigStrategy, SharingMode
from gpuyard_device_plugin.config.config import DeviceIdStrategy, InvalidConfigError, PluginConfig

MESSAGE_LIMIT: Final = 4 * 1024 * 1024
"""Bytes: gRPC's own limit for a message that comes in. The kubelet keeps it, and a device list is one message."""

_STRATEGY: Final = "flags.migStrategy"
_SHARED: Final = {
    SharingMode.TIME_SLICING: "sharing.timeSlicing.resources",
    SharingMode.MPS: "sharing.mps.resources",
}
_MPS_CLIENTS: Final = 48
"""Clients of one MPS server since compute capability 7.5, which every modelled GPU has (CUDA's MPS guide)."""


def build(gpus: tuple[GPU, ...], config: PluginConfig) -> Inventory:
    """The inventory of a node; InvalidConfigError when its GPUs and its configuration contradict each other."""
    if config.mig_strategy is MigStrategy.SINGLE:
        _check_single(gpus)
    if config.mig_strategy is MigStrategy.DYNAMIC:
        _check_dynamic(gpus, config)
    if config.sharing.mode is not SharingMode.NONE:
        _check_sharing(gpus, config)
    return Inventory(tuple(sorted(gpus, key=lambda gpu: gpu.index)), config.sharing, config.mig_strategy)


def _check_single(gpus: tuple[GPU, ...]) -> None:
    """Strategy single says nvidia.com/gpu for MIG devices: that is honest only if they are all alike."""
    if len({gpu.mig_enabled for gpu in gpus}) > 1:
        problem = "all devices on the node must be configured with the same migEnabled value"
        raise InvalidConfigError(_STRATEGY, problem, "put all GPUs in MIG mode, or use mixed")
    for gpu in gpus:
        if gpu.mig_enabled and not gpu.instances:
            problem = f"device {gpu.index} has no MIG devices configured"
            raise InvalidConfigError(_STRATEGY, problem, "give it instances, or use mixed")
    if len({instance.profile for gpu in gpus if gpu.mig_enabled for instance in gpu.instances}) > 1:
        problem = "more than one MIG device type present on node"
        raise InvalidConfigError(_STRATEGY, problem, "use one profile on all GPUs, or mixed")


def _check_dynamic(gpus: tuple[GPU, ...], config: PluginConfig) -> None:
    """Instances come and go with pods: nothing may count on those of now."""
    if cut := [gpu.index for gpu in gpus if gpu.mig_enabled]:
        problem = f"GPU {cut[0]} has a layout of its own"
        raise InvalidConfigError(_STRATEGY, problem, "leave mig out of the yard, or use mixed")
    if config.sharing.mode is not SharingMode.NONE:
        problem = "shares of GPUs that are cut on demand are not modelled"
        raise InvalidConfigError(_STRATEGY, problem, "leave the sharing out, or use mixed")
    if config.device_id is DeviceIdStrategy.INDEX:
        problem = "index does not go with migStrategy dynamic: other pods' instances change it"
        raise InvalidConfigError("flags.plugin.deviceIDStrategy", problem, "use uuid")


def _check_sharing(gpus: tuple[GPU, ...], config: PluginConfig) -> None:
    sharing, field = config.sharing, _SHARED[config.sharing.mode]
    devices = Inventory(gpus, mig_strategy=config.mig_strategy).devices()
    if sharing.mode is SharingMode.MPS and any(device.size for device in devices):
        raise InvalidConfigError(_STRATEGY, "MPS does not go with MIG devices", "use none, or timeSlicing")
    if sharing.mode is SharingMode.MPS and sharing.replicas > _MPS_CLIENTS:
        problem = f"{sharing.replicas} are more than the {_MPS_CLIENTS} clients of an MPS server"
        raise InvalidConfigError(field, problem, f"use at most {_MPS_CLIENTS} replicas")
    for resource, count in Counter(device.resource for device in devices).items():
        size = count * (replicas := sharing.of(resource)) * _entry_bytes(replicas)
        if size > MESSAGE_LIMIT:
            problem = f"{count} {resource} x {replicas} make a device list of {size} bytes"
            remedy = f"stay below the {MESSAGE_LIMIT} bytes that the kubelet takes: use fewer replicas"
            raise InvalidConfigError(field, problem, remedy)


def _entry_bytes(replicas: int) -> int:
    """The most that one device takes in a list: tag and length, id, health, NUMA node of two bytes."""
    identity = len("GPU-00000000-0000-0000-0000-000000000000::") + len(str(replicas - 1))
    return 2 + (2 + identity) + (2 + len("Unhealthy")) + (2 + 2 + 2)
