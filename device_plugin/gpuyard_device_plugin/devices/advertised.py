"""What a kubelet is told of a node's devices while the configuration changes under running pods.

Stands for what happens to a kubelet when a plugin starts anew with other devices. Law:
- a device that is no more is told as Unhealthy for as long as a pod holds it, and at least until `forget_at`: what is
  dropped from a list in silence looks to a kubelet as if it had never been. What a pod holds is found out again by a
  plugin that starts anew;
- a GPU in whose former shape a pod still lives is unhealthy in its new one, so that neither the extender nor the
  kubelet gives it away a second time.
"""

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from gpuyard.hardware import mig
from gpuyard.hardware.gpus import GPU, mig_uuid, placement_uuid
from gpuyard.hardware.inventory import Device, Inventory
from gpuyard_device_plugin.devices.devices import DeviceTable

FORGET_SECONDS: Final = 30.0
"""A kubelet writes the node's status every 10 s."""


@dataclass(frozen=True, slots=True)
class Vanished:
    """A device that the configuration no longer has; `gpu` is the UUID of its GPU."""

    device: Device
    gpu: str


@dataclass(frozen=True, slots=True)
class Advertised:
    """The `inventory` as configured, and what it has lost."""

    inventory: Inventory
    vanished: Mapping[tuple[str, str], Vanished] = field(default_factory=dict)
    """By resource and id."""
    forget_at: float = 0.0

    def becomes(self, inventory: Inventory, now: float) -> "Advertised":
        """Another configuration is in force."""
        uuids = {gpu.index: gpu.uuid for gpu in self.inventory.gpus}
        before = {
            (device.resource, device.id): Vanished(
                dataclasses.replace(device, healthy=False), uuids[device.gpu]
            )
            for device in self.inventory.devices()
        }
        known = {(device.resource, device.id) for device in inventory.devices()}
        lost = {key: gone for key, gone in {**self.vanished, **before}.items() if key not in known}
        return Advertised(inventory, lost, now + FORGET_SECONDS)

    def as_seen(self, found: Iterable[GPU]) -> "Advertised":
        """With the health and the links of these GPUs; what else is advertised of them stays."""
        seen = {gpu.index: gpu for gpu in found}
        gpus = tuple(
            dataclasses.replace(gpu, healthy=seen[gpu.index].healthy, lost_links=seen[gpu.index].lost_links)
            for gpu in self.inventory.gpus
        )
        return dataclasses.replace(self, inventory=dataclasses.replace(self.inventory, gpus=gpus))

    def kept(self, held: Mapping[str, str], now: float) -> "Advertised":
        """With what pods hold (id -> resource) though it is no more, and without what may be forgotten."""
        known = {(device.resource, device.id) for device in self.inventory.devices()}
        missing = {(resource, found) for found, resource in held.items()} - known - self.vanished.keys()
        if now < self.forget_at and not missing:
            return self
        left = {
            key: gone for key, gone in self.vanished.items() if now < self.forget_at or gone.device.id in held
        }
        return dataclasses.replace(self, vanished={**left, **{key: self._gone(*key) for key in missing}})

    def _gone(self, resource: str, identity: str) -> Vanished:
        """A device of an earlier life. Its GPU may be gone, too."""
        bare = identity.partition("::")[0]
        gpus = (gpu.uuid for gpu in self.inventory.gpus if bare in (gpu.uuid, *_instances(gpu)))
        return Vanished(Device(identity, resource, gpu=-1, healthy=False), next(gpus, ""))

    def table(self, held: Collection[str]) -> DeviceTable:
        """The devices that can be given, as of now."""
        known = {device.id for device in self.inventory.devices()}
        taken = {
            gone.gpu
            for gone in self.vanished.values()
            if gone.device.id in held and gone.device.id not in known
        }
        if not taken:
            return DeviceTable.of(self.inventory)
        gpus = tuple(
            dataclasses.replace(gpu, healthy=gpu.healthy and gpu.uuid not in taken)
            for gpu in self.inventory.gpus
        )
        return DeviceTable.of(dataclasses.replace(self.inventory, gpus=gpus))

    def lost(self, resource: str) -> tuple[Device, ...]:
        """The devices of a resource that are no more."""
        return tuple(gone.device for (of, _), gone in self.vanished.items() if of == resource)


def _instances(gpu: GPU) -> Iterator[str]:
    """The ids of all MIG devices into which the GPU could ever have been cut."""
    if (board := mig.board_of(gpu.model)) is not None:
        for profile in board.profiles:
            for start, size in profile.placements:
                yield mig_uuid(gpu.uuid, mig.instance_id(board, start, size))
                yield placement_uuid(gpu.uuid, profile.name, start)
