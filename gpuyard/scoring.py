"""Which of the nodes that fit is best: policies over columns, and ranks for kube-scheduler.

Stands for the score plugins. Law: a policy is a function of columns of integers, one row a node, and returns one
score a row, higher is better; it never sees objects, and the arithmetic of whole columns is what makes it fast.
"""

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gpuyard import placement, requests
from gpuyard.cluster import Node
from gpuyard.occupancy import Occupancy
from gpuyard.requests import PodRequest, Want
from gpuyard.topology import set_score
from gpuyard.verdicts import Rejection

_PARTS = 1000
"""Shares of a whole are compared in thousandths."""
_PAIR_WEIGHT = 10**6
"""More than any sum of pairs that a node's GPUs can lose: what the set is worth comes first."""

Column = npt.NDArray[np.int64]


class Row(NamedTuple):
    """One candidate node. Counts are devices of the kinds that the pod asks for."""

    total: int
    free: int
    """Before the pod is placed."""
    requested: int
    score: int = 0
    """The sum of pairs (`topology.set_score`) of the GPUs that the pod would get."""
    score_lost: int = 0
    """The pairs between those GPUs and the free ones that stay behind: what the node's best sets lose."""


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """What `Row` says, of all candidates."""

    total: Column
    free: Column
    requested: Column
    score: Column
    score_lost: Column


Policy = Callable[[Columns], Column]


def pack(columns: Columns) -> Column:
    """The fullest node first, so that whole nodes stay free."""
    return _part(columns.total - columns.free + columns.requested, columns.total)


def spread(columns: Columns) -> Column:
    """The emptiest node first."""
    return _part(columns.free - columns.requested, columns.total)


def topology(columns: Columns) -> Column:
    """The node whose free GPUs go best together, then the one that loses the least by giving them."""
    return _PAIR_WEIGHT * columns.score - columns.score_lost


POLICIES: Mapping[str, Policy] = {"pack": pack, "spread": spread, "topology": topology}


def rank(by_name: Column, scores: Column, preferences: Column) -> Column:
    """Distinct ranks from the number of rows, the best, down to 1: by preference, then score, then `by_name`.

    Distinct, because kube-scheduler breaks ties at random. `by_name`: the place of each row in the order of names.
    """
    ranks = np.empty(len(scores), np.int64)
    ranks[np.lexsort((by_name, -scores, -preferences))] = np.arange(len(scores), 0, -1)
    return ranks


def columns(rows: Iterable[Row]) -> Columns:
    """The columns of rows."""
    found = list(rows)
    return Columns(*np.array(found, np.int64).reshape(len(found), len(Row._fields)).T)


def row(request: PodRequest, node: Node) -> Row:
    """The row of a node, with the devices that `placement.place` gives."""
    if node.occupancy is not None:
        return _row(request.wants, node.occupancy)
    asked = request.totals
    return Row(sum(map(node.total, asked)), sum(map(node.left, asked)), sum(asked.values()))


def _part(count: Column, total: Column) -> Column:
    return np.where(total > 0, _PARTS * count // np.maximum(total, 1), 0)


@functools.lru_cache(maxsize=32768)
def _row(wants: tuple[Want, ...], occupancy: Occupancy) -> Row:
    asked = requests.totals(wants)
    free = [device for resource in asked for device in occupancy.free(resource)]
    total = sum(len(occupancy.offered(resource)) for resource in asked)
    return Row(total, len(free), sum(asked.values()), *_pairs(wants, occupancy, {d.gpu for d in free}))


def _pairs(wants: tuple[Want, ...], occupancy: Occupancy, free: set[int]) -> tuple[int, int]:
    """Score and lost score of the GPUs that the pod gets among those with something `free` (indexes)."""
    allocation = placement.numbered(wants, occupancy)
    if isinstance(allocation, Rejection):
        return 0, 0
    taken = {i for held in allocation.values() for numbers in held.values() for i in numbers}
    given = {occupancy.devices[i].gpu for i in taken} & free
    before = [gpu for gpu in occupancy.inventory.gpus if gpu.index in free]
    score = set_score([gpu for gpu in before if gpu.index in given])
    behind = set_score([gpu for gpu in before if gpu.index not in given])
    return score, set_score(before) - behind - score
