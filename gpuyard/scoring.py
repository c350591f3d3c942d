"""Which of the nodes that fit is best: policies over columns, and ranks for kube-scheduler.

Stands for the score plugins. Law: a policy is a function of columns of integers, one row a node, and returns one
score a row, higher is better; it never sees objects, so the same policy runs on lists and on arrays.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gpuyard.annotations import Allocation
from gpuyard.cluster import Node
from gpuyard.requests import PodRequest
from gpuyard.topology import set_score

_PARTS = 1000
"""Shares of a whole are compared in thousandths."""
_PAIR_WEIGHT = 10**6
"""More than any sum of pairs that a node's GPUs can lose: what the set is worth comes first."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Parallel lists, one entry a candidate node. Counts are devices of the kinds that the pod asks for."""

    names: list[str]
    total: list[int]
    free: list[int]
    """Before the pod is placed."""
    requested: list[int]
    score: list[int]
    """The sum of pairs (`topology.set_score`) of the GPUs that the pod would get."""
    score_lost: list[int]
    """The pairs between those GPUs and the free ones that stay behind: what the node's best sets lose."""


Policy = Callable[[Columns], list[int]]


def pack(columns: Columns) -> list[int]:
    """The fullest node first, so that whole nodes stay free."""
    rows = zip(columns.total, columns.free, columns.requested, strict=True)
    return [_PARTS * (total - free + asked) // total if total else 0 for total, free, asked in rows]


def spread(columns: Columns) -> list[int]:
    """The emptiest node first."""
    rows = zip(columns.total, columns.free, columns.requested, strict=True)
    return [_PARTS * (free - asked) // total if total else 0 for total, free, asked in rows]


def topology(columns: Columns) -> list[int]:
    """The node whose free GPUs go best together, then the one that loses the least by giving them."""
    rows = zip(columns.score, columns.score_lost, strict=True)
    return [_PAIR_WEIGHT * score - lost for score, lost in rows]


POLICIES: Mapping[str, Policy] = {"pack": pack, "spread": spread, "topology": topology}


def rank(names: Sequence[str], scores: Sequence[int], preferences: Sequence[int]) -> list[int]:
    """Distinct ranks from len(names), the best, down to 1: by preference, then score, then node name.

    Distinct, because kube-scheduler breaks ties at random.
    """
    rows = range(len(names))
    order = sorted(rows, key=lambda row: (-preferences[row], -scores[row], names[row]))
    ranks = [0] * len(names)
    for place, row in enumerate(order):
        ranks[row] = len(names) - place
    return ranks


def columns(candidates: Sequence[tuple[Node, Allocation]], request: PodRequest) -> Columns:
    """The columns of nodes that fit, each with the devices that the pod would get there."""
    asked = request.totals
    pairs = [_pairs(node, allocation, list(asked)) for node, allocation in candidates]
    return Columns(
        names=[node.name for node, _ in candidates],
        total=[sum(node.total(resource) for resource in asked) for node, _ in candidates],
        free=[sum(node.left(resource) for resource in asked) for node, _ in candidates],
        requested=[sum(asked.values())] * len(candidates),
        score=[score for score, _ in pairs],
        score_lost=[lost for _, lost in pairs],
    )


def _pairs(node: Node, allocation: Allocation, resources: Sequence[str]) -> tuple[int, int]:
    """Score and lost score of the GPUs of `allocation` among the node's free ones."""
    if node.inventory is None:
        return 0, 0
    taken = {identity for held in allocation.values() for ids in held.values() for identity in ids}
    free = [device for resource in resources for device in node.free(resource)]
    given = {device.gpu for device in free if device.id in taken}
    before = [gpu for gpu in node.inventory.gpus if gpu.index in {device.gpu for device in free}]
    score = set_score([gpu for gpu in before if gpu.index in given])
    behind = set_score([gpu for gpu in before if gpu.index not in given])
    return score, set_score(before) - behind - score
