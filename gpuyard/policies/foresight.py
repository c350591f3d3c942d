"""Foresight: what would be left of a node's GPUs once it had been filled with pods like those seen so far.

Ours. Fragmentation asks whether one more typical pod fits; a node with GPUs for eight and CPUs for two passes. Three
measures of the same thing are added up, all in thousandths of GPUs, because each sees what the others miss:
- fragmentation: what the next pod cannot use;
- what copies of a typical pod leave behind, on average over the workload;
- what mixed pods leave behind: GPUs offered to random pods until hardly anything fits (`_wasted`), and CPU and memory
  in the proportions of small random groups of pods (`_groups`).
What was tried besides, and what each part brings, is in docs/replay.md.
"""

import functools
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from gpuyard.policies.candidates import Candidates, Matrix
from gpuyard.policies.fragmentation import fragmentation
from gpuyard.policies.outcomes import States, best_outcome
from gpuyard.policies.workload import ANY_MODEL, WHOLE, Column, Workload

Floats = npt.NDArray[np.float64]

_OFFERS: Final = 64
"""Pods that each GPU is offered: with 16 or 256 less was allocated."""
_GROUPS: Final = 64
_GROUP: Final = 2
"""Random groups of pods, and the pods with GPUs in each."""
_SEED: Final = 5
_FINE: Final = 1000
_MOST_LOST: Final = 10**6
"""More thousandths than a node can lose, three times over."""


def foresight(candidates: Candidates) -> Matrix:
    """The least growth of what will be left unused."""

    def rate(before: States, after: States, rows: Column) -> Column:
        left = leftover(before + after, candidates.workload)
        gain = left[: len(before.cpu)][rows] - left[len(before.cpu) :]
        return np.rint(_FINE * (gain + _MOST_LOST)).astype(np.int64)

    return best_outcome(candidates, rate)


def leftover(nodes: States, workload: Workload) -> Floats:
    """The thousandths of each node that will hardly be used, by the three measures together."""
    detailed = workload.detailed or workload
    total = nodes.gpus.sum(axis=1)
    if not (detailed.count > 0).any():
        return np.zeros(len(total))
    return (
        fragmentation(nodes, workload)
        + _beside_copies(nodes, total, _copies(detailed))
        + _beside_mixes(nodes, total, _mixes(detailed, int(nodes.model.max(initial=0))))
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Copies:
    """The shapes with GPUs as lines. `table`: how often each demand fits on a GPU with so much free."""

    cpu: Matrix
    memory: Matrix
    count: Matrix
    asked: Matrix
    models: Matrix
    part: Floats
    demand: Column
    table: Matrix


@functools.lru_cache(maxsize=8)
def _copies(known: Workload) -> _Copies:
    gpu = np.flatnonzero(known.count > 0)
    demands, demand = np.unique(known.milli[gpu], return_inverse=True)
    return _Copies(
        cpu=np.maximum(known.cpu[gpu, None], 1),
        memory=np.maximum(known.memory[gpu, None], 1),
        count=known.count[gpu, None],
        asked=(known.count * known.milli)[gpu, None],
        models=known.models[gpu, None],
        part=known.part[gpu] / known.part[gpu].sum(),
        demand=demand,
        table=np.arange(WHOLE + 1) // demands[:, None],
    )


def _beside_copies(nodes: States, total: Column, copies: _Copies) -> Floats:
    fit = copies.table[:, nodes.gpus.T].sum(axis=1)[copies.demand] // copies.count
    fit = np.minimum(fit, np.minimum(nodes.cpu // copies.cpu, nodes.memory // copies.memory))
    if copies.models.any():
        fit = fit * ((copies.models == ANY_MODEL) | (copies.models >> nodes.model & 1 == 1))
    left: Floats = total - copies.part @ (fit * copies.asked)
    return left


@dataclass(frozen=True, slots=True, eq=False)
class _Mixes:
    """By model: GPU thousandths for each CPU thousandth and MiB of every group, and what is wasted of a GPU."""

    per_cpu: Floats
    per_memory: Floats
    wasted: Floats


@functools.lru_cache(maxsize=8)
def _mixes(known: Workload, last_model: int) -> _Mixes:
    models = range(last_model + 1 if known.models.any() else 1)
    allowed = [(known.models == ANY_MODEL) | (known.models >> model & 1 == 1) for model in models]
    groups = [_groups(known, may) for may in allowed]
    wasted = [_wasted(known, may & (known.count > 0)) for may in allowed]
    return _Mixes(
        np.array([cpu for cpu, _ in groups]), np.array([memory for _, memory in groups]), np.array(wasted)
    )


def _groups(known: Workload, allowed: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Pods drawn until there are enough with GPUs; those without GPUs that come between belong to the group."""
    generator = np.random.default_rng(_SEED)
    gpu = float(known.part[allowed & (known.count > 0)].sum())
    if not gpu:
        return np.zeros(_GROUPS), np.zeros(_GROUPS)
    part = np.where(allowed, known.part, 0)
    length = min(int(4 * _GROUP * part.sum() / gpu) + _GROUP, 64 * _GROUP)
    drawn = generator.choice(len(part), (_GROUPS, length), p=part / part.sum())
    before = (known.count[drawn] > 0).cumsum(axis=1) - (known.count[drawn] > 0)
    taken = before < _GROUP
    asked = ((known.count * known.milli)[drawn] * taken).sum(axis=1)
    cpu, memory = ((column[drawn] * taken).sum(axis=1) for column in (known.cpu, known.memory))
    return asked / np.maximum(cpu, 1), asked / np.maximum(memory, 1)


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


def _beside_mixes(nodes: States, total: Column, mixes: _Mixes) -> Floats:
    model = nodes.model if len(mixes.wasted) > 1 else np.zeros_like(nodes.model)
    usable = total - mixes.wasted[model[:, None], nodes.gpus].sum(axis=1)
    by_cpu, by_memory = (
        mixes.per_cpu[model] * nodes.cpu[:, None],
        mixes.per_memory[model] * nodes.memory[:, None],
    )
    used = np.minimum(np.minimum(by_cpu, by_memory), usable[:, None])
    left: Floats = total - used.mean(axis=1)
    return left
