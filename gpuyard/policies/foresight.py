"""Foresight: what would be left of a node's GPUs once it had been filled with pods like those seen so far.

Ours. Fragmentation asks whether one more typical pod fits; a node with GPUs for eight and CPUs for two passes. Three
measures of the same thing are added up, all in thousandths of GPUs, because each sees what the others miss:
- what the next pod cannot use: fragmentation, of pods told apart by memory;
- what copies of one pod leave behind;
- what mixed pods leave behind: GPUs offered to random pods until hardly anything fits, and CPU and memory in the
  proportions of random groups of pods, half of them of one pod, half of many.
What was tried besides, and what each part brings, is in docs/replay.md.
"""

from typing import Final

import numpy as np

from gpuyard.policies.candidates import Candidates, Matrix
from gpuyard.policies.outcomes import States, best_outcome
from gpuyard.policies.prospects import LOW, Floats, Prospects, prospects
from gpuyard.policies.workload import Column, Workload

_NEXT: Final = 0.66
_MIXES: Final = 2.0
"""What the first and the third measure weigh against the second."""
_SCARCE: Final = 0.3
"""What a free GPU is worth, the fewer there are of its model for those who insist on it."""
_LOW_MASK: Final = (1 << LOW) - 1
_FINE: Final = 1000
_MOST_LOST: Final = 10**6
"""More thousandths than a node can lose, three times over."""
_ROUNDING: Final = 1e-9
_AT_ONCE: Final = 250
"""Nodes that are looked at together: what is worked out for them stays in the processor's cache."""


def foresight(candidates: Candidates) -> Matrix:
    """The least growth of what will be left unused."""

    def rate(before: States, after: States, rows: Column) -> Column:
        left = leftover(before + after, candidates.workload)
        gain = left[: len(before.cpu)][rows] - left[len(before.cpu) :]
        return np.rint(_FINE * (gain + _MOST_LOST)).astype(np.int64)

    return best_outcome(candidates, rate)


def leftover(nodes: States, workload: Workload) -> Floats:
    """The thousandths of each node that will hardly be used, by the three measures together."""
    left = np.zeros(len(nodes.cpu))
    if not (workload.count > 0).any():
        return left
    scarce, models = bool(workload.scarcity.any()), nodes.model
    if not (scarce or (workload.detailed or workload).models.any()):
        models = np.zeros_like(models)
    for model in set(models.tolist()):
        rows, ready = np.flatnonzero(models == model), prospects(workload, model)
        price = _SCARCE * float(workload.scarcity[model]) if scarce else 0.0
        for start in range(0, len(rows), _AT_ONCE):
            part = rows[start : start + _AT_ONCE]
            left[part] = _leftover(nodes.at(part), ready, price)
    return left


def _leftover(nodes: States, ready: Prospects, price: float) -> Floats:
    total = nodes.gpus.sum(axis=1)
    found = ready.table[:, nodes.gpus.T].sum(axis=1)[ready.demand]
    fit = np.minimum((found >> LOW) * ready.per_count, nodes.cpu * ready.per_cpu)
    fit = np.floor(np.minimum(fit, nodes.memory * ready.per_memory) + _ROUNDING)
    following = (fit >= 1) * (total - (found & _LOW_MASK))
    used = (ready.weight * (_NEXT * following + ready.asked * fit)).sum(axis=0)
    usable = total - ready.wasted[nodes.gpus].sum(axis=1)
    mixed = np.minimum(np.minimum(ready.mix_cpu * nodes.cpu, ready.mix_memory * nodes.memory), usable)
    left: Floats = (_NEXT + 1 + _MIXES) * total - used - _MIXES * mixed.mean(axis=0) - price * total
    return left
