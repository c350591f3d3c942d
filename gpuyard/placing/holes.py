"""The room for MIG instances that a node loses to a pod.

Stands for what the driver says can still be placed (`nvidia-smi mig -lgip`, by count). Laws: lost is every place that
was free and overlaps what the pod gets; one place for an instance outweighs all for smaller ones, as where `mig.room`
compares layouts, so that what is lost can be added up over GPUs and compared between nodes.
"""

import functools
from collections.abc import Collection
from typing import Final

from gpuyard.hardware.gpus import WHOLE
from gpuyard.placing import parts
from gpuyard.placing.occupancy import Layout, Occupancy

_PLACES: Final = 1000
"""More places for instances of one size than any pod can take from the others on one node."""
_SIZES: Final = 4
"""Whole GPUs, halves, quarters, and whatever is smaller."""

UNKNOWN: Final = parts.bounded(2**62)
"""What a node without an inventory loses: more than any with one."""


def lost(numbers: Collection[int], occupancy: Occupancy) -> int:
    """What is lost to whoever takes the devices of these numbers."""
    layout = occupancy.layout
    gone = {other for number in numbers for other in _overlapping(layout, number)}
    sizes = _sizes(layout)
    return parts.bounded(sum(sizes[i] for i in gone.intersection(occupancy.idle)))


@functools.lru_cache(maxsize=16384)
def _overlapping(layout: Layout, number: int) -> tuple[int, ...]:
    """The devices that nobody else can have once this one is taken."""
    taken = layout.devices[number]
    return tuple(i for i, device in enumerate(layout.devices) if device.overlaps(taken))


@functools.lru_cache(maxsize=4096)
def _sizes(layout: Layout) -> tuple[int, ...]:
    """What each device weighs as a place for an instance."""
    halvings = ((WHOLE // max(1, parts.milli(d, layout.inventory))).bit_length() for d in layout.devices)
    return tuple(_PLACES ** max(0, _SIZES - number) for number in halvings)
