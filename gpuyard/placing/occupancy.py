"""Which devices of a node are owned, without its name and its ids: what decides over devices, and nothing else.

Stands for kube-scheduler's equivalence classes of old. Law: nodes with equal GPUs and equally placed owners share one
value, compared by identity, so that what is worked out for one of them holds for all. Devices are numbered as
`Inventory.devices()` lists them; a number, as text, is also the id of its device here.
"""

import dataclasses
import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final

from gpuyard.hardware.gpus import GPU
from gpuyard.hardware.inventory import Device, Inventory, MigStrategy, Sharing
from gpuyard.pods import limits
from gpuyard.pods.limits import Limits

_GPU_FIELDS: Final = tuple(
    field.name for field in dataclasses.fields(GPU) if field.name not in ("uuid", "instances")
)
_DEVICE_FIELDS: Final = tuple(field.name for field in dataclasses.fields(Device) if field.name != "id")
_OF_GPU, _OF_DEVICE = attrgetter(*_GPU_FIELDS), attrgetter(*_DEVICE_FIELDS)
"""What nodes that are alike have in common."""


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """What nodes of one make have in common: their GPUs, and the devices, `offers` by resource."""

    inventory: Inventory
    devices: tuple[Device, ...]
    offers: Mapping[str, tuple[Device, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class Occupancy:
    """A node's GPUs (`inventory`, without ids), its `devices` and the numbers of those that are `idle`."""

    layout: Layout
    owned: tuple[Device, ...]
    idle: tuple[int, ...]
    """The devices that nobody owns, wholly or in part; also unhealthy ones."""
    limits: tuple[Limits, ...] = ()
    """What each of `owned` may use of its GPU; empty where no owner says so."""

    @property
    def inventory(self) -> Inventory:
        return self.layout.inventory

    @property
    def devices(self) -> tuple[Device, ...]:
        return self.layout.devices

    def to(self, resources: Iterable[str]) -> "Occupancy":
        """As who asks for these sees it: where there is no device of them, who owns the others is all one."""
        offers = self.layout.offers
        return self if any(map(offers.__contains__, resources)) else _occupancy(self.layout, (), ())

    def offered(self, resource: str) -> tuple[Device, ...]:
        """All devices of the resource."""
        return self.layout.offers.get(resource, ())

    def unowned(self, resource: str) -> tuple[Device, ...]:
        """The idle devices of the resource."""
        devices = self.layout.devices
        return tuple(devices[i] for i in self.idle if devices[i].resource == resource)

    def free(self, resource: str) -> tuple[Device, ...]:
        """The devices that a pod can get: healthy and idle."""
        return tuple(device for device in self.unowned(resource) if device.healthy)

    def only(self, devices: Iterable[Device]) -> "Occupancy":
        """The same, as if of the idle devices only these were idle."""
        numbers = {int(device.id) for device in devices}
        return dataclasses.replace(self, idle=tuple(i for i in self.idle if i in numbers))


def occupancy(inventory: Inventory, owners: Mapping[str, str], limited: Mapping[str, Limits]) -> Occupancy:
    """The occupancy of a node whose devices have these `owners` (id -> pod UID), some of which are `limited`."""
    devices = inventory.devices()
    owned = tuple(i for i, device in enumerate(devices) if device.id in owners)
    used = tuple(limited.get(owners[devices[i].id], limits.NONE) for i in owned) if limited else ()
    return _occupancy(_layout(inventory.uncut()), owned, used if any(used) else ())


# Bounded, because nodes come and go for years; whatever falls out is worked out again.
@functools.lru_cache(maxsize=16384)
def _occupancy(layout: Layout, owned: tuple[int, ...], used: tuple[Limits, ...]) -> Occupancy:
    held = tuple(layout.devices[i] for i in owned)
    by_gpu: dict[int, list[Device]] = {}
    for device in held:
        by_gpu.setdefault(device.gpu, []).append(device)
    idle = tuple(
        i
        for i, device in enumerate(layout.devices)
        if not any(device.overlaps(other) for other in by_gpu.get(device.gpu, ()))
    )
    return Occupancy(layout, held, idle, used)


@functools.lru_cache(maxsize=16384)
def _layout(inventory: Inventory) -> Layout:
    numbers: dict[str, int] = {}
    devices = inventory.devices()
    for i, device in enumerate(devices):
        numbers.setdefault(device.id, i)
    # Tuples, because to make objects of all of them would be half of what it takes to read 5,000 nodes.
    shared = tuple(map(_OF_GPU, inventory.gpus)), inventory.sharing, inventory.mig_strategy
    return _shared(*shared, tuple(map(_OF_DEVICE, devices)), tuple(numbers[device.id] for device in devices))


@functools.lru_cache(maxsize=4096)
def _shared(
    gpus: tuple[tuple[Any, ...], ...],
    sharing: Sharing,
    strategy: MigStrategy,
    devices: tuple[tuple[Any, ...], ...],
    numbers: tuple[int, ...],
) -> Layout:
    """Of all nodes with these GPUs and devices."""
    anonymous = tuple(GPU(uuid="", **dict(zip(_GPU_FIELDS, found, strict=True))) for found in gpus)
    numbered = tuple(
        Device(id=str(number), **dict(zip(_DEVICE_FIELDS, found, strict=True)))
        for number, found in zip(numbers, devices, strict=True)
    )
    offers: dict[str, tuple[Device, ...]] = {}
    for device in numbered:
        offers[device.resource] = (*offers.get(device.resource, ()), device)
    return Layout(Inventory(anonymous, sharing, strategy), numbered, offers)
