"""One decision after the other: the node with the best score, the one with the lowest rank among equals.

Stands for the scheduling cycle of the paper's simulator. Whether a pod that fits nowhere is tried again, and what
leaves, is for who calls. Law: a node is scored only where it has changed since it was last scored for such a pod;
what comes out is what it would be if every node were scored anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from gpuyard.policies import registry
from gpuyard.policies.candidates import Candidates, Matrix, Policy
from gpuyard.policies.workload import WHOLE, Column, Shape, Workload
from gpuyard_replay.fleet import Fleet

NOWHERE: Final = -1


@dataclass(frozen=True, slots=True, eq=False)
class Seat:
    """Where a pod is: on these GPUs of the node in this row."""

    row: int
    shape: Shape
    gpus: Column


class _Remembered:
    """What is known of every node for pods of one shape."""

    def __init__(self, nodes: int) -> None:
        self.keys = np.zeros(nodes, np.int64)
        """Score and rank in one: the highest is the node to take."""
        self.gpus = np.zeros(nodes, np.int64)
        self.scored = np.full(nodes, -1, np.int64)
        """The arrival at which the node was scored, before it changed."""


class Engine:
    """A policy on a fleet. `workload` is what the policy knows of pods to come, `seed` of what it draws."""

    def __init__(
        self, fleet: Fleet, ranks: Sequence[int], policy: Policy, workload: Workload, seed: int
    ) -> None:
        self._fleet, self._policy, self._workload, self._seed = fleet, policy, workload, seed
        self._favour = len(ranks) - 1 - np.array(ranks, np.int64)
        self._changed = np.zeros(len(ranks), np.int64)
        self._remembered: dict[Shape, _Remembered] = {}
        self._arrived = 0

    def place(self, shape: Shape) -> int:
        """The row of the node that the pod is put on, or NOWHERE."""
        found = self.seat(shape)
        return NOWHERE if found is None else found.row

    def seat(self, shape: Shape) -> Seat | None:
        """Where the pod is put; None where it fits nowhere."""
        self._arrived += 1
        rows = np.flatnonzero(self._fleet.fits(shape))
        if not len(rows):
            return None
        known = self._scored(shape, rows)
        row = int(rows[known.keys[rows].argmax()])
        given = self._fleet.take(row, shape, int(known.gpus[row]))
        self._changed[row] = self._arrived
        return Seat(row, shape, given)

    def leave(self, seat: Seat, tags: int) -> None:
        """The pod has gone; `tags` are those of the pods that stay on the node."""
        self._fleet.give_back(seat.row, seat.shape, seat.gpus, tags)
        self._changed[seat.row] = self._arrived

    def _scored(self, shape: Shape, rows: Column) -> _Remembered:
        """What is known of the nodes for such a pod, up to date for these rows."""
        known = self._remembered.get(shape)
        if known is None or self._policy in registry.DRAWN:
            known = self._remembered[shape] = _Remembered(len(self._changed))
        stale = rows[self._changed[rows] >= known.scored[rows]]
        if len(stale):
            found = self._fleet.candidates(stale, shape, self._workload, self._seed + self._arrived)
            scores = self._policy(found)
            gpus = _tightest(found) if scores.ndim == 1 else scores.argmax(axis=1)
            best = scores if scores.ndim == 1 else scores.max(axis=1)
            known.keys[stale] = best * len(self._favour) + self._favour[stale]
            known.gpus[stale], known.scored[stale] = gpus, self._arrived
        return known


def _tightest(found: Candidates) -> Column:
    """The GPU with the least free that suffices, where the policy does not say."""
    gpus: Matrix = np.where(found.gpus >= found.milli[:, None], found.gpus, WHOLE + 1)
    tightest: Column = gpus.argmin(axis=1)
    return tightest
