"""The nodes of a replay as columns, which of them fit a pod, and what it takes of one.

Stands for kube-scheduler's snapshot, NodeResourcesFit and the filter plugin of the paper's simulator: CPU, memory,
GPU model, and enough free thousandths on enough GPUs.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from gpuyard.policies.candidates import Candidates, Matrix
from gpuyard.policies.outcomes import States
from gpuyard.policies.workload import ANY_MODEL, WHOLE, Column, Shape, Workload, typical
from gpuyard_replay.traces import TraceNode, TracePod

_ABSENT = 62
"""The bit of all models that no node has."""


class Fleet:
    """What is free on each node; one row a node, in the order given."""

    def __init__(self, nodes: Sequence[TraceNode]) -> None:
        installed = np.array([node.gpus for node in nodes])
        self.cpu = np.array([node.cpu for node in nodes], np.int64)
        self.memory = np.array([node.memory for node in nodes], np.int64)
        self.gpus: Matrix = np.where(np.arange(installed.max()) < installed[:, None], WHOLE, 0).astype(
            np.int64
        )
        self._bits = {model: bit for bit, model in enumerate(sorted({node.model for node in nodes}))}
        self._model = np.array([self._bits[node.model] for node in nodes], np.int64)
        self._total: Column = self.gpus.sum(axis=1)
        self._tags, self._nothing = np.zeros_like(self.cpu), np.zeros_like(self.cpu)
        self._largest, self._untouched = self.gpus.max(axis=1), installed.astype(np.int64)

    @property
    def capacity(self) -> int:
        """All GPU thousandths."""
        return int(self._total.sum())

    def shape(self, pod: TracePod) -> Shape:
        """What the pod asks for, with this fleet's bits for GPU models."""
        bits = {1 << self._bits.get(model, _ABSENT) for model in pod.models}
        return Shape(pod.cpu, pod.milli, pod.count, sum(bits), pod.memory)

    def workload(self, pods: Iterable[TracePod]) -> Workload:
        """What pods like these make typical on this fleet."""
        installed = np.bincount(self._model, self._total, len(self._bits))
        return typical(map(self.shape, pods), installed.astype(np.int64).tolist())

    def fits(self, shape: Shape) -> npt.NDArray[np.bool_]:
        """Whether each node can take the pod."""
        fits = (self.cpu >= shape.cpu) & (self.memory >= shape.memory)
        if shape.is_share:
            fits &= self._largest >= shape.milli
        elif shape.milli == WHOLE:
            fits &= self._untouched >= shape.gpus
        elif shape.gpus:
            fits &= (self.gpus >= shape.milli).sum(axis=1) >= shape.gpus
        if shape.gpus and shape.models != ANY_MODEL:
            fits &= (shape.models >> self._model & 1).astype(bool)
        return fits

    def candidates(self, rows: Column, shape: Shape, workload: Workload, draw: int) -> Candidates:
        """These rows, as a policy sees them. A trace knows no links between GPUs."""
        nothing, gpus = self._nothing[rows], self.gpus[rows]
        return Candidates(
            known=nothing + 1,
            total=self._total[rows],
            free=np.add.reduce(gpus, 1),
            requested=nothing + shape.gpus * shape.milli,
            link=nothing,
            link_lost=nothing,
            holes_lost=nothing,
            cpu=self.cpu[rows],
            memory=self.memory[rows],
            gpus=gpus,
            model=self._model[rows],
            tags=self._tags[rows],
            tag=nothing + shape.tag,
            count=nothing + shape.gpus,
            milli=nothing + shape.milli,
            asked_cpu=shape.cpu,
            asked_memory=shape.memory,
            workload=workload,
            draw=draw,
        )

    def states(self, rows: Column) -> States:
        """What these rows look like now."""
        return States(self.cpu[rows], self.memory[rows], self.gpus[rows], self._model[rows])

    def take(self, row: int, shape: Shape, gpu: int) -> Column:
        """The pod is on this node; a share on `gpu`, whole GPUs on the first that are free. Which it got."""
        free, given = self.gpus[row], np.array([gpu] if shape.is_share else [], np.int64)
        if shape.gpus and not shape.is_share:
            given = np.flatnonzero(free >= shape.milli)[: shape.gpus]
        self._move(row, shape, given, -1)
        self._tags[row] |= shape.tag
        return given

    def give_back(self, row: int, shape: Shape, given: Column, tags: int) -> None:
        """The pod has gone from these GPUs of this node; `tags` are those of the pods that stay."""
        self._move(row, shape, given, 1)
        self._tags[row] = tags

    def _move(self, row: int, shape: Shape, given: Column, sign: int) -> None:
        self.cpu[row] += sign * shape.cpu
        self.memory[row] += sign * shape.memory
        if shape.gpus:
            free = self.gpus[row]
            free[given] += sign * shape.milli
            self._largest[row], self._untouched[row] = free.max(), (free == WHOLE).sum()
