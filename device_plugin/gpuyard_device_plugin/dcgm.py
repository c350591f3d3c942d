"""GPU metrics under the names and labels that dashboards and autoscalers know.

Stands for NVIDIA's dcgm-exporter (its default-counters.csv and pod mapper). There is no GPU to measure, so the
numbers say what is handed out: who holds a part of a GPU is taken to use all of that part.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from prometheus_client.core import GaugeMetricFamily, Metric

from gpuyard.hardware.gpus import GPU
from gpuyard.hardware.inventory import Device, Inventory
from gpuyard.pods import limits
from gpuyard.pods.limits import Limits
from gpuyard_device_plugin.allocating.accounting import Holder
from gpuyard_device_plugin.devices.device_memory import memory

LABELS: Final = ("gpu", "UUID", "device", "modelName", "Hostname", "namespace", "pod", "container")
FALLEN_OFF_THE_BUS: Final = 79
"""The XID of a GPU that is unhealthy for another reason, as NVIDIA's plugin would have seen it."""

_FIELDS: Final = {
    "DCGM_FI_DEV_GPU_UTIL": "GPU utilization (in %).",
    "DCGM_FI_DEV_FB_USED": "Framebuffer memory used (in MiB).",
    "DCGM_FI_DEV_FB_FREE": "Framebuffer memory free (in MiB).",
    "DCGM_FI_DEV_XID_ERRORS": "Value of the last XID error encountered.",
}


def metrics(
    node: str, inventory: Inventory, holders: Mapping[str, set[Holder]], xids: Mapping[int, int]
) -> Iterator[Metric]:
    """One sample for each GPU and container on it. `holders` by device id, `xids` by GPU index."""
    families = {name: GaugeMetricFamily(name, text, labels=LABELS) for name, text in _FIELDS.items()}
    devices: dict[int, list[Device]] = defaultdict(list)
    for device in inventory.devices():
        devices[device.gpu].append(device)
    for gpu in inventory.gpus:
        held = [device for device in devices[gpu.index] if holders.get(device.id)]
        who = set[Holder]().union(*(holders[device.id] for device in held)) or {Holder()}
        used = sum(
            memory(gpu, device, inventory.sharing, _limits(holders.get(device.id, ()))) for device in held
        )
        values = _values(gpu, used, xids.get(gpu.index, 0 if gpu.healthy else FALLEN_OFF_THE_BUS))
        for holder in sorted(who):
            place = (str(gpu.index), gpu.uuid, f"nvidia{gpu.index}", gpu.model, node)
            for family, value in zip(families.values(), values, strict=True):
                family.add_metric([*place, holder.namespace, holder.pod, holder.container], value)
    yield from families.values()


def _values(gpu: GPU, used: int, xid: int) -> tuple[int, int, int, int]:
    """In the order of the fields."""
    used = min(used, gpu.memory_mib)
    return used * 100 // gpu.memory_mib, used, gpu.memory_mib - used, xid


def _limits(holders: Iterable[Holder]) -> Limits:
    """Those of a device: its holders are containers of one pod."""
    return next((holder.limits for holder in holders), limits.NONE)
