"""Fragmentation: the free GPU thousandths of a node that a typical pod could not use, and the policy that avoids it.

Stands for the measure and the policy (FGD) of "Beware of Fragmentation" (USENIX ATC '23). Law: the published figures
come out to the printed digit, so sums are made in the authors' order: class by class in each of their categories,
then the categories. A change of nothing would otherwise score 50 or 49 by chance.
"""

import functools
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from gpuyard.policies.candidates import Candidates, Matrix
from gpuyard.policies.outcomes import States, best_outcome
from gpuyard.policies.workload import ANY_MODEL, WHOLE, Column, Workload

Floats = npt.NDArray[np.float64]
_sum = np.add.reduce
"""Without the detour of an array's `sum`: mostly one node is looked at, and then calls are what costs."""
_LOW: Final = 20
_LOW_MASK: Final = (1 << _LOW) - 1
"""Bits for the thousandths of GPUs with too little; above them the number of GPUs with enough is counted."""


def fgd(candidates: Candidates) -> Matrix:
    """The least growth of fragmentation, cut to whole numbers by a sigmoid: one point is about 40 thousandths."""

    def rate(before: States, after: States, rows: Column) -> Column:
        # Both at once: for few nodes the number of calls of numpy is what costs.
        lost = fragmentation(before + after, candidates.workload)
        gain = lost[: len(before.cpu)][rows] - lost[len(before.cpu) :]
        return (1 / (1 + np.exp(-gain / WHOLE)) * 100).astype(np.int64)

    return best_outcome(candidates, rate)


def fragmentation(nodes: States, workload: Workload) -> Floats:
    """The thousandths of each node that a typical pod could not use, on average over the workload."""
    classes, total = _classes(workload), _sum(nodes.gpus, 1)
    counts = _sum(classes.table[:, nodes.gpus.T], 1)[classes.demand]
    gpus, cpu = (counts >> _LOW) >= classes.count, nodes.cpu >= classes.cpu
    whole, low = classes.part * total, classes.part * (counts & _LOW_MASK)
    excluded: Floats | float = 0.0
    if classes.models.any():
        access = (classes.models == ANY_MODEL) | (classes.models >> nodes.model & 1 == 1)
        excluded, whole, low = _sum(np.where(access, 0, whole)), whole * access, low * access
    plain, plain_cpu = classes.plain_part * total, nodes.cpu >= classes.plain_cpu
    lost: Floats = (
        _sum(np.where(gpus | cpu, 0, whole))
        + _sum(np.where(cpu, np.where(gpus, low, whole), 0))
        + _sum(np.where(gpus > cpu, whole, 0))
        + _sum(np.where(plain_cpu, plain, 0))
        + _sum(np.where(plain_cpu, 0, plain))
        + excluded
    )
    return lost


@dataclass(frozen=True, slots=True, eq=False)
class _Classes:
    """A workload made ready: shapes with GPUs as lines, and shapes without (`plain`)."""

    cpu: Matrix
    count: Matrix
    models: Matrix
    part: Floats
    demand: Column
    """The line of `table` for each shape."""
    table: Matrix
    """For each thousandths asked and free: whether one GPU suffices, above `_LOW` bits; what is free if not."""
    plain_cpu: Matrix
    plain_part: Floats


@functools.lru_cache(maxsize=8)
def _classes(workload: Workload) -> _Classes:
    gpu, plain = np.flatnonzero(workload.count > 0), np.flatnonzero(workload.count == 0)
    demands, demand = np.unique(workload.milli[gpu], return_inverse=True)
    free = np.arange(WHOLE + 1)
    return _Classes(
        cpu=workload.cpu[gpu, None],
        count=workload.count[gpu, None],
        models=workload.models[gpu, None],
        part=workload.part[gpu, None],
        demand=demand,
        table=np.where(free >= demands[:, None], 1 << _LOW, free),
        plain_cpu=workload.cpu[plain, None],
        plain_part=workload.part[plain, None],
    )
