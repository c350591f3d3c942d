"""The devices of a node by resource and id, and which of them are free of what others hold.

Stands for the `Devices` type of NVIDIA's resource manager.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from gpuyard.hardware.inventory import Device, Inventory


@dataclass(frozen=True, slots=True)
class DeviceTable:
    """All devices of an inventory. Ids are unique across resources."""

    inventory: Inventory
    by_id: Mapping[str, Device]

    @staticmethod
    def of(inventory: Inventory) -> "DeviceTable":
        return DeviceTable(inventory, {device.id: device for device in inventory.devices()})

    @property
    def resources(self) -> tuple[str, ...]:
        """Every resource of which there is a device."""
        return tuple(sorted({device.resource for device in self.by_id.values()}))

    def of_resource(self, resource: str) -> tuple[Device, ...]:
        """By GPU index, then by place on the GPU."""
        return tuple(device for device in self.by_id.values() if device.resource == resource)

    def find(self, resource: str, ids: Iterable[str]) -> list[Device]:
        """The devices of the resource among `ids`, in the order of the table; unknown ids are left out."""
        wanted = set(ids)
        return [device for device in self.of_resource(resource) if device.id in wanted]


class Occupied:
    """Held devices, to be asked which others they rule out."""

    def __init__(self, table: DeviceTable, held: Collection[str]) -> None:
        self.devices = [table.by_id[found] for found in held if found in table.by_id]
        self._ids = {device.id for device in self.devices}
        # Shares rule out only themselves, and there may be thousands: only the others are compared one by one.
        self._whole: dict[int, list[Device]] = {}
        for device in self.devices:
            if device.replica is None:
                self._whole.setdefault(device.gpu, []).append(device)

    def rules_out(self, device: Device) -> bool:
        return device.id in self._ids or any(d.overlaps(device) for d in self._whole.get(device.gpu, ()))

    def shares(self, table: DeviceTable) -> Counter[tuple[int, int]]:
        """How many devices of each place are held."""
        return Counter(table.by_id[found].place for found in self._ids)
