"""A workload made ready for foresight: its shapes with GPUs as lines, and what is wasted of a GPU that all may use.

Law: worked out once for a workload, from its frequencies alone: what is drawn is drawn alike each time.
"""

import functools
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from gpuyard.policies.candidates import Matrix
from gpuyard.policies.workload import ANY_MODEL, WHOLE, Column, Workload

Floats = npt.NDArray[np.float64]

_SETS: Final = 0.05
"""What pods with several GPUs weigh together, however frequent; pods with one weigh 1."""
_OFFERS: Final = 64
"""Pods that each GPU is offered."""
_SIZES: Final = (1, 64)
_EACH: Final = 32
"""Random groups: the pods with GPUs in each, and how many groups of each size."""
_SEED: Final = 11
_TINY: Final = 1e-9
_COLUMNS: Final = ("cpu", "milli", "count", "models", "memory")
LOW: Final = 20
"""Bits for the thousandths of GPUs with too little; above them it is counted how often a demand fits."""


@dataclass(frozen=True, slots=True, eq=False)
class Prospects:
    """For nodes with GPUs of one model: one line a shape that may run there."""

    per_cpu: Floats
    """Pods for each thousandth of a CPU, and for each MiB."""
    per_memory: Floats
    per_count: Floats
    asked: Floats
    """GPU thousandths of one pod."""
    weight: Floats
    """How much a line counts."""
    demand: Column
    """The line of `table` for each shape."""
    table: Matrix
    """For each thousandths asked and free: how often it fits on one GPU, above `LOW` bits; what is free if never."""
    mix_cpu: Floats
    """GPU thousandths for each thousandth of a CPU of random groups of pods, one line a group; for each MiB."""
    mix_memory: Floats
    wasted: Floats
    """By free thousandths of a GPU."""


@functools.lru_cache(maxsize=64)
def prospects(workload: Workload, model: int) -> Prospects:
    """For nodes with GPUs of this model."""
    known, lines = workload.detailed or workload, _lines(workload)
    allowed, its = _allowed(known, model), _allowed(lines, model)
    cpu, memory, count, milli, part = (
        getattr(lines, name)[its, None] for name in ("cpu", "memory", "count", "milli", "part")
    )
    demands, demand = np.unique(lines.milli[its], return_inverse=True)
    free, (mix_cpu, mix_memory) = np.arange(WHOLE + 1), _groups(known, allowed)
    return Prospects(
        per_cpu=1 / np.maximum(cpu, 1),
        per_memory=1 / np.maximum(memory, 1),
        per_count=1 / count,
        asked=(count * milli).astype(np.float64),
        weight=part,
        demand=demand,
        table=np.where(free >= demands[:, None], free // demands[:, None] << LOW, free),
        mix_cpu=mix_cpu[:, None],
        mix_memory=mix_memory[:, None],
        wasted=_wasted(known, allowed & (known.count > 0)),
    )


def _allowed(known: Workload, model: int) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = (known.models == ANY_MODEL) | (known.models >> model & 1 == 1)
    return found


def _lines(workload: Workload) -> Workload:
    """Shapes with one GPU, by frequency; sets of GPUs by GPUs, because one without a place leaves many unused."""
    known = workload.detailed or workload
    sets = workload.sets or known
    one, several = known.count == 1, sets.count > 1
    frequent, large = known.part[one], (sets.part * sets.count)[several]
    cpu, milli, count, models, memory = (
        np.concatenate((getattr(known, name)[one], getattr(sets, name)[several])) for name in _COLUMNS
    )
    return Workload(
        cpu, milli, count, models, memory, np.concatenate((_parts(frequent), _SETS * _parts(large)))
    )


def _parts(weights: Floats) -> Floats:
    found: Floats = weights / max(weights.sum(), _TINY)
    return found


def _groups(known: Workload, allowed: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """GPU thousandths for each thousandth of a CPU, and for each MiB, of groups of all sizes."""
    gpu = float(known.part[allowed & (known.count > 0)].sum())
    if not gpu:
        return np.zeros(_EACH * len(_SIZES)), np.zeros(_EACH * len(_SIZES))
    part = np.where(allowed, known.part, 0)
    drawn = [_group(known, part, gpu, number) for number in range(len(_SIZES))]
    asked, cpu, memory = np.concatenate(drawn, axis=1)
    return asked / np.maximum(cpu, 1), asked / np.maximum(memory, 1)


def _group(known: Workload, part: Floats, gpu: float, number: int) -> Matrix:
    """Pods drawn until there are enough with GPUs; those without GPUs that come between belong to the group."""
    size, generator = _SIZES[number], np.random.default_rng(_SEED + number)
    length = min(int(4 * size * part.sum() / gpu) + size, 64 * size)
    drawn = generator.choice(len(part), (_EACH, length), p=part / part.sum())
    before = (known.count[drawn] > 0).cumsum(axis=1) - (known.count[drawn] > 0)
    columns = (known.count * known.milli, known.cpu, known.memory)
    sums: Matrix = np.array([(column[drawn] * (before < size)).sum(axis=1) for column in columns])
    return sums


def _wasted(known: Workload, allowed: npt.NDArray[np.bool_]) -> Floats:
    """For all that can be free of a GPU: what is still free after so many pods, drawn at random, were offered it."""
    left = np.arange(WHOLE + 1, dtype=np.float64)
    part = np.bincount(known.milli[allowed], known.part[allowed], WHOLE + 1)
    sizes = np.flatnonzero(part)
    for _ in range(_OFFERS if len(sizes) else 0):
        following = np.zeros_like(left)
        for size in sizes.tolist():
            following[size:] += part[size] * left[: WHOLE + 1 - size]
            following[:size] += part[size] * left[:size]
        left = following / part.sum()
    return left
