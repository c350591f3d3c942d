"""What a policy looks at: the nodes that fit, as columns, and what the pod asks of each.

Amounts are what is free before the pod is placed. A GPU is a thousand thousandths: a share, a MIG instance and a
whole GPU are measured alike. A table of GPUs is as wide as the largest node; what a node lacks counts as a GPU with
nothing free.
"""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gpuyard.policies.workload import NOTHING_KNOWN, WHOLE, Column, Workload

Matrix = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """One row a node. What is not known of a node counts as nothing, such as links between its GPUs."""

    known: Column
    """1: its inventory is known; 0: only counts of devices, of which each stands for a GPU that is free or not, and
    the model. `counted.known_first` is for policies that look further."""
    total: Column
    """Devices of the kinds that the pod asks for."""
    free: Column
    requested: Column
    link: Column
    """How well the GPUs that the pod would get go together (`topology.set_score`)."""
    link_lost: Column
    """The links between those GPUs and the free ones that stay behind: what the node's best sets lose."""
    holes_lost: Column
    """What of the room for MIG instances is gone once the pod has its own (`placing.holes`); 0 if it has none.
    Where that is not known it counts as more than anybody loses."""
    cpu: Column
    """Thousandths of a CPU; memory in MiB."""
    memory: Column
    gpus: Matrix
    """The free thousandths of each GPU."""
    model: Column
    """The node's GPU model, as the number of a bit in `Workload.models`; its `code` until the workload is known."""
    tags: Column
    """The tags (`Shape.tag`) of all GPU pods on the node, or-ed."""
    tag: Column
    """That of the pod, if it goes there."""
    count: Column
    """How many GPUs the pod takes a part of on this node, and the thousandths of each."""
    milli: Column
    asked_cpu: int
    asked_memory: int
    workload: Workload = NOTHING_KNOWN
    draw: int = 0
    """The seed of what is drawn for this pod, where a policy draws."""

    def columns(self) -> Mapping[str, Column]:
        """All columns and tables by name."""
        values = ((field.name, getattr(self, field.name)) for field in dataclasses.fields(self))
        return {name: value for name, value in values if isinstance(value, np.ndarray)}

    def at(self, rows: Column) -> "Candidates":
        """Some of the rows."""
        chosen: dict[str, Any] = {name: column[rows] for name, column in self.columns().items()}
        return dataclasses.replace(self, **chosen)


Policy = Callable[[Candidates], Column]


def is_share(count: Column, milli: Column) -> npt.NDArray[np.bool_]:
    """Whether the pod takes a part of one GPU: then it matters of which."""
    found: npt.NDArray[np.bool_] = (count == 1) & (milli < WHOLE)
    return found


def taken(gpus: Matrix, count: Column, milli: Column) -> npt.NDArray[np.bool_]:
    """The GPUs that a pod gets: those with the least free that suffice, the first of equals."""
    fits = gpus >= milli[:, None]
    if (milli == WHOLE).all():
        whole: npt.NDArray[np.bool_] = fits & (fits.cumsum(axis=1) <= count[:, None])
        return whole
    order = np.argsort(np.where(fits, gpus, WHOLE + 1), axis=1, kind="stable")
    place = np.empty_like(order)
    np.put_along_axis(place, order, np.arange(gpus.shape[1])[None, :], axis=1)
    chosen: npt.NDArray[np.bool_] = fits & (place < count[:, None])
    return chosen


def best(scores: Column | Matrix) -> Column:
    """One score a row."""
    return scores if scores.ndim == 1 else scores.max(axis=1)
