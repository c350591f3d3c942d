"""What pods are typical, as a sample of past pods: what a policy may know about pods to come.

Stands for the target workload of the paper "Beware of Fragmentation" (USENIX ATC '23), whose policy scores a node by
the pods that could not run there.
"""

import dataclasses
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from gpuyard.hardware.gpus import WHOLE as WHOLE

Column = npt.NDArray[np.int64]

_TYPICAL: Final = 0.95
"""The part of all pods that the typical ones make up."""
ANY_MODEL: Final = 0
MOST_MODELS: Final = 61
_SHARE: Final = 1
_MOST_GPUS: Final = 61


class Shape(NamedTuple):
    """What one pod asks for: `milli` thousandths of each of so many `gpus`.

    `models` are the bits of the GPU models that it may run on.
    """

    cpu: int
    milli: int
    gpus: int
    models: int = ANY_MODEL
    memory: int = 0

    @property
    def is_share(self) -> bool:
        """Whether it takes a part of one GPU: then it matters of which."""
        return self.gpus == 1 and self.milli < WHOLE

    @property
    def tag(self) -> int:
        """A bit for its kind: a share, or so many GPUs; none without GPUs."""
        if not self.gpus:
            return 0
        return _SHARE if self.is_share else 1 << min(self.gpus, _MOST_GPUS)


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """Shapes of pods as columns, the most frequent first, and the part of all pods that each makes up."""

    cpu: Column
    milli: Column
    count: Column
    models: Column
    memory: Column
    part: npt.NDArray[np.float64]
    detailed: "Workload | None" = None
    """The same shapes told apart by their memory too; None where this is that."""
    sets: "Workload | None" = None
    """All shapes that take more than one GPU, however rare, told apart by their memory."""
    scarcity: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """By GPU model: the part of its GPUs, at most all, that pods restricted to some models will ask for by the time
    that all GPUs of the cluster have been asked for."""
    codes: Column = field(default_factory=lambda: np.zeros(0, np.int64))
    """The `code` of the model that each bit stands for, where nodes tell theirs so."""

    def bits(self, codes: Column) -> Column:
        """The bit of the model with each of these codes; the one after the last for any other."""
        if not len(self.codes):
            return codes
        alike = codes[:, None] == self.codes
        found: Column = np.where(alike.any(axis=1), alike.argmax(axis=1), len(self.codes))
        return found


def code(model: str) -> int:
    """A checksum of the model's name: what stands for it where the workload, and so its bit, is not known."""
    return zlib.crc32(model.encode())


def typical(pods: Iterable[Shape], installed: Sequence[int] = ()) -> Workload:
    """The shapes of these pods, without their memory, up to 95 % of the pods.

    As the paper's simulator has it: of equally frequent shapes the greater one comes first. `installed`: the GPU
    thousandths of each model that the cluster has.
    """
    seen = Counter(pods)
    plain: Counter[Shape] = Counter()
    for shape, number in seen.items():
        plain[shape._replace(memory=0)] += number
    sets = Counter({shape: number for shape, number in seen.items() if shape.gpus > 1})
    return dataclasses.replace(
        _workload(plain),
        detailed=_workload(seen),
        sets=_workload(sets, covering=1),
        scarcity=_scarcity(seen, np.array(installed, np.float64)),
    )


def _workload(pods: Counter[Shape], covering: float = _TYPICAL) -> Workload:
    """The most frequent shapes, until they make up such a part of the pods."""
    found = sorted(((number, shape) for shape, number in pods.items()), reverse=True)
    total, covered, kept = pods.total(), 0, 0
    while kept < len(found) and covered < covering * total:
        covered += found[kept][0]
        kept += 1
    shapes = np.array([shape for _, shape in found[:kept]], np.int64).reshape(kept, len(Shape._fields))
    cpu, milli, count, models, memory = shapes.T.copy()
    # Divided twice, because sums of these decide ties: the paper's program computes them so.
    part = np.array([number / total for number, _ in found[:kept]]) / (covered / total if total else 1)
    return Workload(cpu, milli, count, models, memory, part)


def _scarcity(pods: Counter[Shape], installed: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Pods that may run on several models are taken to spread over them as these are installed."""
    asked, bits = np.zeros_like(installed), np.arange(len(installed))
    for shape, number in pods.items():
        may = installed * (shape.models >> bits & 1)
        if shape.gpus and may.any():
            asked += number * shape.gpus * shape.milli * may / may.sum()
    total = sum(number * shape.gpus * shape.milli for shape, number in pods.items())
    load = asked * (installed.sum() / max(total, 1))
    part: npt.NDArray[np.float64] = np.minimum(load / np.maximum(installed, 1), 1)
    return part


NOTHING_KNOWN: Final = typical(())
