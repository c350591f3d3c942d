"""All nodes as rows, with what is left on them as columns of integers.

Stands for the NodeInfo list of kube-scheduler's snapshot. Laws: a node keeps its row while it is there; a row whose
node is gone stays unused until there are so many that all rows are numbered anew (`generation`).
"""

import copy
import itertools
from array import array
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from gpuyard.placing import scoring
from gpuyard.placing.cluster import Cluster, Node
from gpuyard.placing.scoring import State
from gpuyard.policies.candidates import Matrix
from gpuyard.policies.workload import Column

_MOST = 2**62
"""More than any real amount; what is greater would not fit into a column."""
_SPARE = 100
_NOTHING: Final[tuple[tuple[str, ...], Column]] = (), np.empty(0, np.int64)
"""Names, and their rows."""
_MOST_KINDS = 50_000
"""Kinds are forgotten beyond, so that years of changes fill no memory."""


class Fleet:
    """The nodes by row, and the row of each name."""

    def __init__(self) -> None:
        self.generation = 0
        self.nodes: list[Node] = []
        self.rows: dict[str, int] = {}
        self._kinds = array("q")
        self._kind_of: dict[Hashable, int] = {}
        self._numbers = itertools.count()
        self._left: dict[str, array[int]] = {}
        self._by_name: Column = np.empty(0, np.int64)
        self._states: Matrix = scoring.stacked(())
        self._unstacked: dict[int, State] = {}
        """States by row, newer than `_states`."""
        self._found = _NOTHING

    @classmethod
    def of(cls, cluster: Cluster) -> "Fleet":
        """The nodes of a cluster. Where it has been surveyed, only what differs is looked at."""
        fleet = cluster.fleet.copy() if isinstance(cluster, Surveyed) else cls()
        for name in fleet.rows.keys() - cluster.nodes.keys():
            fleet.remove(name)
        for name, node in cluster.nodes.items():
            row = fleet.rows.get(name)
            if row is None or fleet.nodes[row] is not node:
                fleet.put(node)
        return fleet

    def copy(self) -> "Fleet":
        """The same nodes in the same rows, to be changed apart."""
        if self._unstacked:
            self._stack()
        twin = copy.copy(self)
        twin.nodes, twin.rows, twin._unstacked = self.nodes.copy(), self.rows.copy(), {}
        twin._left = {resource: column[:] for resource, column in self._left.items()}
        twin._kinds, twin._kind_of, twin._states = self._kinds[:], self._kind_of.copy(), self._states.copy()
        return twin

    def put(self, node: Node) -> None:
        """The node as it is now."""
        row = self.rows.setdefault(node.name, len(self.nodes))
        if row == len(self.nodes):
            self._found = _NOTHING
            self.nodes.append(node)
            self._kinds.append(0)
            for column in self._left.values():
                column.append(0)
        self.nodes[row] = node
        self._kinds[row] = self._kind(node)
        self._unstacked[row] = scoring.state(node)
        for resource in node.fit.allocatable.keys() - self._left.keys():
            self._left[resource] = self._column(resource)
        for resource, column in self._left.items():
            column[row] = _left(node, resource)

    def remove(self, name: str) -> None:
        """The node is gone."""
        self.rows.pop(name, None)
        self._found = _NOTHING
        if len(self.nodes) > 2 * len(self.rows) + _SPARE:
            self._renumber([self.nodes[row] for row in self.rows.values()])

    def find(self, names: Sequence[str]) -> Column:
        """The row of each name, -1 for names that are not known."""
        expected, rows = self._found
        # To compare texts takes a fifth of what it takes to look them up.
        if len(names) == len(expected) and tuple(names) == expected:
            return rows
        return np.fromiter(map(self.rows.get, names, itertools.repeat(-1)), np.int64, len(names))

    def expect(self, names: tuple[str, ...], rows: Column) -> None:
        """These names, whose rows are these, are about to be asked for in this order."""
        self._found = names, rows

    def left(self, resource: str, rows: Column | slice) -> Column:
        """What is not booked of a resource in these rows; below zero where more is booked than there is."""
        column = self._left.get(resource)
        # A resource that no node has ever offered.
        column = self._column(resource) if column is None else column
        return np.frombuffer(column, np.int64)[rows]

    @property
    def kinds(self) -> Column:
        """By row: equal numbers for nodes whose devices and taints are equal, and that take pods alike."""
        return np.array(self._kinds, np.int64)

    def states(self, rows: Column) -> Matrix:
        """What policies look at whoever asks (`scoring.stacked`), of these rows."""
        if self._unstacked:
            self._stack()
        return self._states[rows]

    def by_name(self, rows: Column) -> Column:
        """The place of each row in the order of names."""
        if len(self._by_name) < len(self.nodes):
            self._by_name = np.zeros(len(self.nodes), np.int64)
            self._by_name[[self.rows[name] for name in sorted(self.rows)]] = np.arange(len(self.rows))
        return self._by_name[rows]

    def _kind(self, node: Node) -> int:
        if len(self._kind_of) > _MOST_KINDS:
            self._kind_of.clear()
        fit = node.fit
        kind = (node.occupancy or node.name, fit.taints, fit.ready, fit.unschedulable)
        return self._kind_of.setdefault(kind, next(self._numbers))

    def _stack(self) -> None:
        new = scoring.stacked(self._unstacked.values(), self._states.shape[1])
        missing = max(0, len(self.nodes) - len(self._states)), new.shape[1] - self._states.shape[1]
        if any(missing):
            self._states = np.pad(self._states, [(0, lines) for lines in missing])
        self._states[list(self._unstacked)] = new
        self._unstacked.clear()

    def _column(self, resource: str) -> "array[int]":
        return array("q", [_left(node, resource) for node in self.nodes])

    def _renumber(self, nodes: list[Node]) -> None:
        self.generation += 1
        self.nodes.clear()
        self.rows.clear()
        del self._kinds[:]
        self._left.clear()
        self._by_name = np.empty(0, np.int64)
        self._states = scoring.stacked(())
        self._unstacked.clear()
        for node in nodes:
            self.put(node)


@dataclass(frozen=True, slots=True, eq=False)
class Surveyed(Cluster):
    """A cluster with the fleet of most of its nodes, which nobody changes any more."""

    fleet: Fleet = field(default_factory=Fleet, repr=False)


def _left(node: Node, resource: str) -> int:
    left = node.fit.allocatable.get(resource, 0) - node.used.get(resource, 0)
    return max(-_MOST, min(left, _MOST))
