"""Devices of every kind as parts of GPUs, in thousandths: what policies measure nodes and pods by.

Law: a whole GPU is a thousand; a share is what its pod says that it may use (`limits`), else an equal part of its
replicas; a MIG instance counts by its memory slices. What cannot be given out, because it is sick or lies outside all
instances, is not free.
"""

import dataclasses
import functools
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Final

from gpuyard import vocabulary
from gpuyard.hardware.boards import board_of, plain_product
from gpuyard.hardware.gpus import GPU, WHOLE
from gpuyard.hardware.inventory import Device, Inventory
from gpuyard.placing.cluster import Node
from gpuyard.placing.occupancy import Occupancy
from gpuyard.pods import limits
from gpuyard.pods.amounts import CPU, MEMORY, MIB
from gpuyard.pods.fit import Amounts
from gpuyard.pods.limits import Limits
from gpuyard.pods.requests import is_device_resource
from gpuyard.policies.workload import Shape

_MOST: Final = 2**40
"""More of anything than a real node has; sums of more would not fit into a column."""
_SLICES: Final = 8
"""Memory slices of a GPU whose model has no placement table: as many as most have."""


def milli(device: Device, inventory: Inventory) -> int:
    """The part of its GPU that a device is."""
    shares = 1 if device.replica is None else max(1, inventory.sharing.of(device.resource))
    if not device.size:
        return WHOLE // shares
    model = next((gpu.model for gpu in inventory.gpus if gpu.index == device.gpu), "")
    board = board_of(model)
    return WHOLE * device.size // (board.memory_slices if board else _SLICES) // shares


def is_handle(device: Device) -> bool:
    """Whether it is a share of a whole GPU: what it is worth depends on who gets it."""
    return device.replica is not None and not device.size


def used(device: Device, gpu: GPU, inventory: Inventory, limited: Limits) -> Limits:
    """What a device takes of its GPU where its owner is `limited`."""
    part = milli(device, inventory)
    if not is_handle(device):
        return Limits(part).on(gpu)
    return limited.on(gpu) if limited else Limits(part, gpu.memory_mib // inventory.sharing.replicas)


@functools.lru_cache(maxsize=16384)
def left(occupancy: Occupancy) -> Mapping[int, Limits]:
    """What is not used of each GPU, by index, whether or not there is a device to get it with."""
    gpus = {gpu.index: gpu for gpu in occupancy.inventory.gpus}
    found = {index: Limits(WHOLE, gpu.memory_mib) for index, gpu in gpus.items()}
    limited = occupancy.limits or (limits.NONE,) * len(occupancy.owned)
    for device, its in zip(occupancy.owned, limited, strict=True):
        found[device.gpu] -= used(device, gpus[device.gpu], occupancy.inventory, its)
    return found


@functools.lru_cache(maxsize=16384)
def free(occupancy: Occupancy) -> tuple[int, ...]:
    """What can be got of each GPU, in the order of the inventory."""
    idle, rest = defaultdict[int, int](int), left(occupancy)
    # Instances that are made on demand overlap: a slice is free where any of them could be made.
    counted = set[tuple[int, int]]()
    for device in (occupancy.devices[i] for i in occupancy.idle):
        made = device.size if device.replica is None else 0
        slices = {(device.gpu, device.start + n) for n in range(made)} - counted
        new = dataclasses.replace(device, size=len(slices)) if slices else device
        if device.healthy and is_handle(device):
            idle[device.gpu] = WHOLE
        elif device.healthy and (slices or not made):
            idle[device.gpu] += milli(new, occupancy.inventory)
            counted |= slices
    return tuple(min(idle[gpu.index], rest[gpu.index].milli) for gpu in occupancy.inventory.gpus)


@functools.lru_cache(maxsize=16384)
def _given(occupancy: Occupancy) -> tuple[int, ...]:
    """What each owned device takes of its GPU."""
    gpus = {gpu.index: gpu for gpu in occupancy.inventory.gpus}
    limited = occupancy.limits or (limits.NONE,) * len(occupancy.owned)
    pairs = zip(occupancy.owned, limited, strict=True)
    return tuple(used(device, gpus[device.gpu], occupancy.inventory, its).milli for device, its in pairs)


def tags(node: Node) -> int:
    """The kinds of pods that own devices of the node (`Shape.tag` of its `shapes`)."""
    if node.inventory is None or node.occupancy is None:
        return 0
    devices = node.inventory.devices()
    owners = [node.owners[devices[int(device.id)].id] for device in node.occupancy.owned]
    given, found = dict(zip(owners, _given(node.occupancy), strict=True)), 0
    for owner, count in Counter(owners).items():
        found |= Shape(0, given[owner], count).tag
    return found


def bounded(amount: int) -> int:
    """What stands for an amount in columns: pods may ask for more than 64 bits can say."""
    return max(-_MOST, min(amount, _MOST))


def model(node: Node) -> str:
    """The model of its GPUs; empty where it is not known, or there are none."""
    gpus = node.inventory.gpus if node.inventory else ()
    return plain_product(gpus[0].model if gpus else node.fit.labels.get(vocabulary.PRODUCT_LABEL, ""))


def shapes(node: Node, booked: Mapping[str, Amounts]) -> Mapping[str, Shape]:
    """What each pod (by UID) on the node asked for: of GPUs by what it owns, else by what it has `booked`."""
    held: defaultdict[str, list[int]] = defaultdict(list)
    gpus = {gpu.index: gpu for gpu in node.inventory.gpus} if node.inventory else {}
    if node.inventory and node.owners:
        for device in node.inventory.devices():
            if owner := node.owners.get(device.id):
                limited = node.limits.get(owner, limits.NONE)
                held[owner].append(used(device, gpus[device.gpu], node.inventory, limited).milli)
    found: dict[str, Shape] = {}
    for uid in sorted({*held, *booked}):
        owned, amounts = held.get(uid, []), booked.get(uid, {})
        count = len(owned) or sum(amounts[resource] for resource in filter(is_device_resource, amounts))
        size = max(owned, default=WHOLE if count else 0)
        cpu, memory = bounded(amounts.get(CPU, 0)), bounded(amounts.get(MEMORY, 0) // MIB)
        found[uid] = Shape(cpu, size, bounded(count), memory=memory)
    return found
