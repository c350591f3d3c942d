"""What is published of a replay: allocation and fragmentation by how much has been asked for so far.

Stands for `analysis_allo_discrete.csv` and its siblings. A bucket is a hundredth of all GPUs, rounded half to even;
its value is the mean over all arrivals in it, of those that found no place too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpuyard.policies.workload import Column

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """After each arrival: thousandths of GPUs asked for so far, in use, and lost to fragmentation."""

    capacity: int
    asked: Column
    used: Column
    lost: _Floats


@dataclass(frozen=True, slots=True)
class Point:
    """One bucket, in percent: in use and lost, of all GPUs, and lost of what is free."""

    asked: int
    allocated: float
    fragmentation: float
    fragmentation_ratio: float


def points(record: Record) -> Sequence[Point]:
    """The curve; a bucket in which nothing arrived has no point."""
    asked = record.asked / record.capacity
    buckets = np.round(100 * asked).astype(np.int64)
    free = record.capacity - record.used
    # Rounded, or not, as the published figures were before their means were taken.
    values = (
        np.round(100 * record.used / record.capacity, 2),
        100 * record.lost / record.capacity,
        np.round(100 * np.divide(record.lost, free, out=np.zeros_like(record.lost), where=free > 0), 2),
    )
    found, place, number = np.unique(buckets, return_inverse=True, return_counts=True)
    means = [np.bincount(place, value) / number for value in values]
    return [Point(int(bucket), *(float(mean[i]) for mean in means)) for i, bucket in enumerate(found)]
