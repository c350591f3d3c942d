"""A trace against one policy, from the files' values to a record.

The policy knows the typical pods of the trace (its distribution, as the published experiment has it), and nothing of
which pod comes when.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpuyard.policies import fragmentation
from gpuyard.policies.candidates import Matrix, Policy
from gpuyard.policies.outcomes import States
from gpuyard.policies.workload import Column, Shape, Workload
from gpuyard_replay.curve import Record
from gpuyard_replay.engine import NOWHERE, Engine
from gpuyard_replay.fleet import Fleet
from gpuyard_replay.traces import TraceNode, TracePod

Progress = Callable[[int, int], None]
"""Is told how many pods of how many have come."""
_EVERY = 500
_AT_ONCE = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """What all policies meet alike: nodes with ranks, pods in their order, and the trace that policies know."""

    nodes: Sequence[TraceNode]
    ranks: Sequence[int]
    arrivals: Sequence[TracePod]
    known: Sequence[TracePod]
    seed: int


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """What came out. `failed`: the pods that found no place, by the GPUs they asked for."""

    record: Record
    failed: Mapping[str, int]


def replay(scene: Scene, policy: Policy, progress: Progress = lambda _done, _all: None) -> Result:
    """Every arrival, one after the other."""
    fleet = Fleet(scene.nodes)
    start = fleet.states(np.arange(len(scene.nodes)))
    shapes = [fleet.shape(pod) for pod in scene.arrivals]
    known = fleet.workload(scene.known)
    engine = Engine(fleet, scene.ranks, policy, known, scene.seed)
    journal = _Journal(start, len(shapes))
    for i, shape in enumerate(shapes):
        journal.note(i, engine.place(shape), fleet)
        if i % _EVERY == 0:
            progress(i, len(shapes))
    progress(len(shapes), len(shapes))
    asked = np.array([shape.gpus * shape.milli for shape in shapes], np.int64)
    placed = journal.rows != NOWHERE
    used = np.where(placed, asked, 0).cumsum()
    record = Record(fleet.capacity, asked.cumsum(), used, journal.lost(known))
    refused = itertools.compress(shapes, (~placed).tolist())
    return Result(record, Counter(map(_kind, refused)))


class _Journal:
    """The node that each arrival changed, and what it looked like then: fragmentation is added up afterwards."""

    def __init__(self, start: States, arrivals: int) -> None:
        self._start = start
        self.rows = np.full(arrivals, NOWHERE, np.int64)
        self._cpu = np.zeros(arrivals, np.int64)
        self._gpus = np.zeros((arrivals, start.gpus.shape[1]), np.int64)

    def note(self, arrival: int, row: int, fleet: Fleet) -> None:
        """The arrival is on the node in this row now, or NOWHERE."""
        if row != NOWHERE:
            self.rows[arrival] = row
            self._cpu[arrival], self._gpus[arrival] = fleet.cpu[row], fleet.gpus[row]

    def lost(self, known: Workload) -> npt.NDArray[np.float64]:
        """The fragmentation of all nodes together after each arrival."""
        placed = np.flatnonzero(self.rows != NOWHERE)
        rows = self.rows[placed]
        after = _fragmentation(self._cpu[placed], self._gpus[placed], self._start.model[rows], known)
        initial = _fragmentation(self._start.cpu, self._start.gpus, self._start.model, known)
        by_node = np.argsort(rows, kind="stable")
        before = np.empty_like(after)
        before[by_node[1:]] = after[by_node[:-1]]
        first = by_node[np.diff(rows[by_node], prepend=-1) != 0]
        before[first] = initial[rows[first]]
        change = np.zeros(len(self.rows))
        change[placed] = after - before
        lost: npt.NDArray[np.float64] = initial.sum() + change.cumsum()
        return lost


def _fragmentation(cpu: Column, gpus: Matrix, model: Column, known: Workload) -> npt.NDArray[np.float64]:
    """By parts, so that memory stays flat however long the trace is."""
    parts = range(0, len(cpu), _AT_ONCE)
    cut = [slice(start, start + _AT_ONCE) for start in parts]
    found = [fragmentation.fragmentation(States(cpu[p], cpu[p], gpus[p], model[p]), known) for p in cut]
    return np.concatenate(found) if found else np.empty(0)


def _kind(shape: Shape) -> str:
    if not shape.gpus:
        return "CPU only"
    return "share" if shape.is_share else f"{shape.gpus} GPU"
