"""What pods are typical, as a sample of past pods: what a policy may know about pods to come.

Stands for the target workload of the paper "Beware of Fragmentation" (USENIX ATC '23), whose policy scores a node by
the pods that could not run there.
"""

import dataclasses
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[np.int64]

_TYPICAL: Final = 0.95
"""The part of all pods that the typical ones make up."""
ANY_MODEL: Final = 0
WHOLE: Final = 1000
"""The thousandths of one GPU."""
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


def typical(pods: Iterable[Shape]) -> Workload:
    """The shapes of these pods, without their memory, up to 95 % of the pods.

    As the paper's simulator has it: of equally frequent shapes the greater one comes first.
    """
    seen = list(pods)
    found = _workload(shape._replace(memory=0) for shape in seen)
    return dataclasses.replace(found, detailed=_workload(seen))


def _workload(pods: Iterable[Shape]) -> Workload:
    found = sorted(((number, shape) for shape, number in Counter(pods).items()), reverse=True)
    total, covered, kept = sum(number for number, _ in found), 0, 0
    while kept < len(found) and covered < _TYPICAL * total:
        covered += found[kept][0]
        kept += 1
    shapes = np.array([shape for _, shape in found[:kept]], np.int64).reshape(kept, len(Shape._fields))
    cpu, milli, count, models, memory = shapes.T.copy()
    # Divided twice, because sums of these decide ties: the paper's program computes them so.
    part = np.array([number / total for number, _ in found[:kept]]) / (covered / total if total else 1)
    return Workload(cpu, milli, count, models, memory, part)


NOTHING_KNOWN: Final = typical(())
