"""MIG instances that are made on demand: which ones there are, and which are on their way out.

Stands for what the driver does at `nvidia-smi mig -cgi` and `-dgi`. Laws:
- the instances that are there never overlap;
- there is one for each place that a live pod holds, once nothing is left in the way;
- an instance that nobody holds any more is torn down, which takes time; a sick GPU tears nothing down.
A plugin that starts finds what is there in the node's annotation, as NVIDIA's finds it at the driver.
"""

import dataclasses
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from gpuyard.hardware.gpus import GPU, Instance
from gpuyard.hardware.inventory import Device, Inventory, MigStrategy
from gpuyard_device_plugin.devices.devices import DeviceTable

TEAR_DOWN_SECONDS: Final = 1.0
"""Assumed: no listing says how long a driver takes."""
PATIENCE_SECONDS: Final = 5.0
"""How long a container's start waits for a tear-down: a kubelet waits for 30 s, and then tries again."""


class NotReadyError(Exception):
    """The instance that was there before is still there: the kubelet tries the container's start again."""


@dataclass(frozen=True, slots=True)
class Instances:
    """The ids of the instances that are `there`, and of those that are `going`, with the end of their tear-down."""

    there: frozenset[str] = frozenset()
    going: Mapping[str, float] = field(default_factory=dict)

    def adopting(self, inventory: Inventory | None) -> "Instances":
        """Those too that a former life of the plugin has made; whoever holds none of them lets them go."""
        gpus = inventory.gpus if inventory and inventory.mig_strategy is MigStrategy.DYNAMIC else ()
        found = {instance.uuid for gpu in gpus for instance in gpu.instances}
        return dataclasses.replace(self, there=self.there | (found - self.going.keys()))

    def following(self, table: DeviceTable, held: Iterable[str], now: float) -> "Instances":
        """What becomes of them when pods hold just these devices."""
        wanted = {found for found in held if _is_on_demand(table, found)}
        before = {found for found in self.there if _is_on_demand(table, found)}
        going = {**self.going, **dict.fromkeys(before - wanted, now + TEAR_DOWN_SECONDS)}
        left = {found: end for found, end in going.items() if _is_left(table, found, end, now)}
        now_there = Instances(frozenset(before & wanted), left)
        for found in sorted(wanted - before):
            if not now_there.in_the_way(table, [found]):
                now_there = dataclasses.replace(now_there, there=now_there.there | {found})
        return now_there

    def in_the_way(self, table: DeviceTable, ids: Collection[str]) -> list[Device]:
        """What must be gone before there can be instances with these ids, or a whole GPU."""
        wanted = [table.by_id[found] for found in ids if found in table.by_id]
        others = {*self.going, *self.there.difference(ids)} & table.by_id.keys()
        found = [table.by_id[other] for other in others]
        overlapping = (other for other in found if any(other.overlaps(device) for device in wanted))
        return sorted(overlapping, key=lambda other: (other.gpu, other.start))

    def next_end(self, now: float) -> float | None:
        """When the next tear-down ends by itself."""
        return min((end for end in self.going.values() if end > now), default=None)

    def shown(self, inventory: Inventory) -> Inventory:
        """The inventory with the GPUs as they are cut now."""
        if inventory.mig_strategy is not MigStrategy.DYNAMIC:
            return inventory
        ids = self.there | self.going.keys()
        cut = [device for device in inventory.devices() if device.id in ids]
        return dataclasses.replace(inventory, gpus=tuple(_cut(gpu, cut) for gpu in inventory.gpus))


def _is_on_demand(table: DeviceTable, device: str) -> bool:
    found = table.by_id.get(device)
    return table.inventory.mig_strategy is MigStrategy.DYNAMIC and found is not None and found.size > 0


def _is_left(table: DeviceTable, device: str, end: float, now: float) -> bool:
    return _is_on_demand(table, device) and (end > now or not table.by_id[device].healthy)


def _cut(gpu: GPU, devices: Iterable[Device]) -> GPU:
    mine = sorted((found for found in devices if found.gpu == gpu.index), key=lambda found: found.start)
    instances = tuple(Instance(found.profile, found.start, found.size, found.id) for found in mine)
    return dataclasses.replace(gpu, mig_enabled=bool(instances), instances=instances)
