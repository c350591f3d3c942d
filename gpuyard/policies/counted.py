"""Policies over counts of devices, the links between them and the holes on them, without a look at pods to come."""

from typing import Final

import numpy as np

from gpuyard.policies.candidates import Candidates
from gpuyard.policies.workload import Column

_PARTS: Final = 1000
"""Shares of a whole are compared in thousandths."""
_LINK_WEIGHT: Final = 10**6
"""More than any sum of links that a node's GPUs can lose: what the set is worth comes first."""
_UNKNOWN: Final = -(2**60)
"""Less than any score of a node that can be judged."""


def pack(candidates: Candidates) -> Column:
    """The fullest node first, so that whole nodes stay free."""
    return _part(candidates.total - candidates.free + candidates.requested, candidates.total)


def spread(candidates: Candidates) -> Column:
    """The emptiest node first."""
    return _part(candidates.free - candidates.requested, candidates.total)


def topology(candidates: Candidates) -> Column:
    """The node whose free GPUs go best together, then the one that loses the least by giving them."""
    return known_first(candidates, _LINK_WEIGHT * candidates.link - candidates.link_lost)


def mig_holes(candidates: Candidates) -> Column:
    """The node that loses the least room for large MIG instances, then as `pack`, which pods without any get.

    Nodes of which that is not known come after those of which it is.
    Within a node the pod gets its place as ever, on the fullest GPU that has one.
    """
    return pack(candidates) - (_PARTS + 1) * candidates.holes_lost


def known_first(candidates: Candidates, scores: Column) -> Column:
    """These scores, where the inventory is known that they look at; the other nodes after those, as by `pack`."""
    return np.where(candidates.known > 0, scores, _UNKNOWN + pack(candidates))


def _part(count: Column, total: Column) -> Column:
    return np.where(total > 0, _PARTS * count // np.maximum(total, 1), 0)
