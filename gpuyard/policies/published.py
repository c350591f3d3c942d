"""The baselines of "Beware of Fragmentation" (USENIX ATC '23), as the authors' simulator computes them.

Law: every score is cut down to a whole number from 0 to 100, so that ties are common; whoever asks breaks them.
The simulator knows all of a node; where only counts are known, each device that is free counts as a whole GPU, and
policies that look for what runs on a node put it after all others.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from gpuyard.policies.candidates import Candidates, Matrix, taken
from gpuyard.policies.counted import known_first
from gpuyard.policies.workload import WHOLE, Column

_MOST_CPU: Final = 128_000
_MOST_GPU: Final = 8_000
"""The largest node of the paper's cluster: 128 CPUs and 8 GPUs."""


def random(candidates: Candidates) -> Matrix:
    """Any node, and any of its GPUs that suffice."""
    generator = np.random.default_rng(candidates.draw)
    node = generator.integers(0, 2**40, len(candidates.cpu))[:, None] << 20
    scores = node + generator.integers(0, 2**20, candidates.gpus.shape)
    fits = (candidates.gpus >= candidates.milli[:, None]) | (candidates.count != 1)[:, None]
    return np.where(fits, scores, -1)


def dotprod(candidates: Candidates) -> Column:
    """The node with the least left, weighted by what the pod asks for."""
    cpu = (candidates.cpu / _MOST_CPU) * (candidates.asked_cpu / _MOST_CPU)
    gpu = (candidates.gpus.sum(axis=1) / _MOST_GPU) * (_asked(candidates) / _MOST_GPU)
    return _cut(100 * (1 - (cpu + gpu) / 2))


def bestfit(candidates: Candidates) -> Column:
    """The node with the least CPU and GPUs left once the pod is there."""
    cpu = candidates.cpu - candidates.asked_cpu
    gpu = candidates.gpus.sum(axis=1) - _asked(candidates)
    return _cut(100 * (1 - (0.5 * cpu / _MOST_CPU + 0.5 * gpu / _MOST_GPU)))


def clustering(candidates: Candidates) -> Column:
    """Nodes with pods of the same kind: shares with shares, pods with two GPUs with such."""
    own, found = candidates.tag, candidates.tags
    kinds = np.select([found == own, (found & own) != 0, found == 0], [75, 50, 25], 0)
    room = 25 * np.maximum(_MOST_GPU - candidates.gpus.sum(axis=1), 0) // _MOST_GPU
    return known_first(candidates, np.where(candidates.count > 0, kinds + room, 0))


def packing(candidates: Candidates) -> Column:
    """GPUs that are in use first, then free GPUs of nodes in use, then idle nodes."""
    gpus, count = candidates.gpus, candidates.count
    chosen = taken(gpus, count, candidates.milli)
    opened = (chosen & (gpus == WHOLE)).sum(axis=1)
    left = np.where(chosen, gpus * 100 // WHOLE, 0).sum(axis=1)
    scores = np.where(opened > 0, np.maximum(50 - opened, 33), np.maximum(100 - left // 10, 50))
    installed = (gpus == WHOLE).sum(axis=1)
    scores = np.where(candidates.tags == 0, np.maximum(33 - installed, installed), scores)
    return known_first(candidates, np.where(count > 0, scores, 0))


def _asked(candidates: Candidates) -> Column:
    return candidates.count * candidates.milli


def _cut(scores: npt.NDArray[np.float64]) -> Column:
    """Towards zero, as Go converts."""
    return scores.astype(np.int64)
