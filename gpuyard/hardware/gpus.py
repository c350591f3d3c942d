"""GPUs and MIG instances as values, with the ids that they carry for ever.

Stands for what NVML reports. Ids are deterministic: a restarted device plugin reports the same devices, because
kubelet checkpoints and pod statuses refer to them. They are written as NVIDIA writes them.
"""

import uuid
from dataclasses import dataclass
from typing import Final

WHOLE: Final = 1000
"""The thousandths of one GPU."""
_YARD: Final = uuid.uuid5(uuid.NAMESPACE_DNS, "gpuyard.io")


@dataclass(frozen=True, slots=True)
class Instance:
    """A MIG GPU instance: memory slices [start, start + size) of its GPU."""

    profile: str
    start: int
    size: int
    uuid: str


@dataclass(frozen=True, slots=True)
class GPU:
    """One GPU of one node.

    `numa`, `switch` and `nvlink` number the NUMA node, the PCIe switch and the NVLink/NVSwitch domain that the GPU
    hangs on within its node (`nvlink` None: no NVLink). `memory_mib` is in MiB, as the label nvidia.com/gpu.memory.
    """

    index: int
    uuid: str
    model: str
    memory_mib: int
    numa: int = 0
    switch: int = 0
    nvlink: int | None = None
    healthy: bool = True
    mig_enabled: bool = False
    instances: tuple[Instance, ...] = ()
    lost_links: tuple[int, ...] = ()
    """Indexes of the GPUs of its NVLink domain that it no longer reaches over NVLink; they name it, too."""


def gpu_uuid(node: str, index: int) -> str:
    """The id of GPU `index` of the yard node `node`."""
    return f"GPU-{uuid.uuid5(_YARD, f'{node}/{index}')}"


def mig_uuid(gpu: str, instance_id: int) -> str:
    """The id of the MIG device on GPU `gpu` (its uuid) with that GPU-instance id and compute instance 0."""
    return f"MIG-{uuid.uuid5(_YARD, f'{gpu}/{instance_id}/0')}"


def placement_uuid(gpu: str, profile: str, start: int) -> str:
    """The id of an instance that may be made on that GPU: profiles of one size share their GPU-instance ids."""
    return f"MIG-{uuid.uuid5(_YARD, f'{gpu}/{profile}/{start}')}"
