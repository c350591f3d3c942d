"""One node as the page draws it: each GPU a row of cells, of which owners and instances cover some.

Law: a GPU has as many cells as make every device on it a whole number of them: one for a whole GPU, a cell for each
memory slice where it can be divided, each of these once more for each share of it, and a thousand where pods say how
much of it they use. Integers only.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final

from gpuyard import vocabulary
from gpuyard.hardware.boards import board_of
from gpuyard.hardware.gpus import GPU, WHOLE
from gpuyard.hardware.inventory import Device, Inventory, MigStrategy
from gpuyard.placing.cluster import Node
from gpuyard.pods.requests import is_device_resource
from gpuyard.writes import JSON

MOST_FREE: Final = 64
"""Parts of a GPU up to which those that nobody has are drawn, too: a GPU may be shared thousands of times."""


def node(found: Node) -> JSON:
    """{"rack"?, "block"?, "marks", "gpus"} or, where only counts are known, "counts" instead of "gpus"."""
    labels = found.fit.labels
    named = {"rack": labels.get(vocabulary.RACK), "block": labels.get(vocabulary.BLOCK)}
    marks = ("not ready" * (not found.fit.ready), "cordoned" * found.fit.unschedulable)
    said = {key: name for key, name in named.items() if name} | {"marks": list(filter(None, marks))}
    if found.inventory is None:
        return said | {"counts": _counts(found)}
    return said | {"gpus": _gpus(found, found.inventory)}


def place(device: Device) -> str:
    """A device as people write it: 3, 3:4 for an instance at memory slice 4, 3::1 for the second share."""
    instance = f":{device.start}" if device.size else ""
    return f"{device.gpu}{instance}" + ("" if device.replica is None else f"::{device.replica}")


def _counts(found: Node) -> dict[str, list[int]]:
    """Resource -> how many are booked, and how many there are."""
    offered = {name: count for name, count in found.fit.allocatable.items() if is_device_resource(name)}
    return {name: [found.used.get(name, 0), count] for name, count in offered.items() if count}


def _gpus(found: Node, inventory: Inventory) -> list[JSON]:
    by_gpu: defaultdict[int, list[Device]] = defaultdict(list)
    for device in inventory.devices():
        if device.id in found.owners or inventory.mig_strategy is not MigStrategy.DYNAMIC:
            by_gpu[device.gpu].append(device)
    return [_gpu(gpu, by_gpu[gpu.index], found, inventory) for gpu in inventory.gpus]


def _gpu(gpu: GPU, devices: Sequence[Device], found: Node, inventory: Inventory) -> JSON:
    """What is as usual is left out. `parts` are [first cell, cells, profile, owner's UID or ""]."""
    slices = _slices(gpu, devices, inventory)
    shares = [inventory.sharing.of(device.resource) for device in devices if device.replica is not None]
    each = math.lcm(*shares)
    parts = [_part(device, slices, each, found, inventory) for device in devices]
    if any(part[3] in found.limits for part in parts):
        slices, each = 1, WHOLE
        parts = list(_limited(gpu, parts, found, WHOLE // max(1, *shares)))
    said: JSON = {
        "index": gpu.index,
        "model": gpu.model,
        "memory": gpu.memory_mib,
        "cells": slices * each,
        "numa": gpu.numa,
        "switch": gpu.switch,
    }
    more: dict[str, Any] = {
        "link": gpu.nvlink,
        "lost": list(gpu.lost_links) or None,
        "sick": True if not gpu.healthy else None,
        "contested": any(device.id in found.contested for device in devices) or None,
        "parts": [part for part in parts if part[3] or 1 < len(parts) <= MOST_FREE or part[2]] or None,
    }
    return said | {key: value for key, value in more.items() if value is not None}


def _slices(gpu: GPU, devices: Sequence[Device], inventory: Inventory) -> int:
    board = board_of(gpu.model)
    divided = inventory.mig_strategy is MigStrategy.DYNAMIC or any(device.size for device in devices)
    if not divided:
        return 1
    return max([board.memory_slices if board else 1, *(device.start + device.size for device in devices)])


def _limited(gpu: GPU, parts: Sequence[list[Any]], found: Node, usual: int) -> Iterator[list[Any]]:
    """One behind the other, as large as they say; those that say nothing are worth one of equal shares."""
    start = 0
    for uid in (part[3] for part in parts if part[3]):
        milli = found.limits[uid].on(gpu).milli if uid in found.limits else usual
        yield [start, milli, f"{milli}‰", uid]
        start += milli


def _part(device: Device, slices: int, each: int, found: Node, inventory: Inventory) -> list[Any]:
    start, size = device.start * each, (device.size or slices) * each
    if device.replica is not None:
        size //= inventory.sharing.of(device.resource)
        start += device.replica * size
    return [start, size, device.profile, found.owners.get(device.id, "")]
