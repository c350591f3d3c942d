"""What nodes look like once the pod is there: one outcome a row, or one for each GPU that can give a share.

Laws: of GPUs of one node with nothing taken only the first is tried, and of many nodes that look alike only one,
because the others would end alike.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from gpuyard.policies.candidates import Candidates, Matrix, is_share, taken
from gpuyard.policies.workload import WHOLE, Column

_MANY: Final = 64
"""So many nodes take longer to rate than to be told apart."""


@dataclass(frozen=True, slots=True, eq=False)
class States:
    """Nodes as columns: what is free on them."""

    cpu: Column
    memory: Column
    gpus: Matrix
    model: Column

    def __add__(self, other: "States") -> "States":
        """These nodes, then the others."""
        return States(
            np.concatenate((self.cpu, other.cpu)),
            np.concatenate((self.memory, other.memory)),
            np.concatenate((self.gpus, other.gpus)),
            np.concatenate((self.model, other.model)),
        )

    def at(self, rows: Column) -> "States":
        """Some of these nodes."""
        return States(self.cpu[rows], self.memory[rows], self.gpus[rows], self.model[rows])


def best_outcome(candidates: Candidates, rate: Callable[[States, States, Column], Column]) -> Matrix:
    """The rate of every outcome, by row and GPU: in the first GPU's column where it does not matter which.

    `rate(before, after, rows)`: the nodes without the pod, every outcome, and its row in `before`; not negative.
    -1 stands where there is no outcome.
    """
    if len(candidates.cpu) < _MANY:
        return _rated(candidates, rate)
    columns = (candidates.cpu, candidates.memory, candidates.model, candidates.count, candidates.milli)
    lines = np.column_stack((*columns, candidates.gpus)).astype(np.int64)
    content = lines.view(f"V{lines.shape[1] * lines.itemsize}").ravel()
    _, first, alike = np.unique(content, return_index=True, return_inverse=True)
    return _rated(candidates.at(first), rate)[alike]


def _rated(candidates: Candidates, rate: Callable[[States, States, Column], Column]) -> Matrix:
    before = States(candidates.cpu, candidates.memory, candidates.gpus, candidates.model)
    rows, places, gpus = _outcomes(candidates)
    after = States(
        candidates.cpu[rows] - candidates.asked_cpu,
        candidates.memory[rows] - candidates.asked_memory,
        gpus,
        candidates.model[rows],
    )
    scores = np.full(candidates.gpus.shape, -1, np.int64)
    scores[rows, places] = rate(before, after, rows)
    return scores


def _outcomes(candidates: Candidates) -> tuple[Column, Column, Matrix]:
    """Row, GPU and what is then free of the node's GPUs, of every outcome."""
    share = is_share(candidates.count, candidates.milli)
    if share.all():
        return _shares(candidates, np.arange(len(share)))
    if not share.any():
        return _others(candidates, np.arange(len(share)))
    halves = _shares(candidates, np.flatnonzero(share)), _others(candidates, np.flatnonzero(~share))
    rows, places, gpus = (np.concatenate(parts) for parts in zip(*halves, strict=True))
    return rows, places, gpus


def _shares(candidates: Candidates, which: Column) -> tuple[Column, Column, Matrix]:
    gpus, milli = candidates.gpus[which], candidates.milli[which]
    untouched = gpus == WHOLE
    tried = (gpus >= milli[:, None]) & ~(untouched & (untouched.cumsum(axis=1) > 1))
    lines, places = np.nonzero(tried)
    after = gpus[lines]
    after[np.arange(len(lines)), places] -= milli[lines]
    return which[lines], places, after


def _others(candidates: Candidates, which: Column) -> tuple[Column, Column, Matrix]:
    gpus, count, milli = candidates.gpus[which], candidates.count[which], candidates.milli[which]
    after = gpus if not count.any() else gpus - taken(gpus, count, milli) * milli[:, None]
    return which, np.zeros_like(which), after
