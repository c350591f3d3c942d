"""Notices when room may have come into being: only then a gang that did not fit is planned again.

Stands for the queueing hints of kube-scheduler: a node that appears or changes, a pod that frees its node, places
that are given up. What takes room away is of no interest.
"""

from collections.abc import Iterable

from gpuyard.groups.reservations import holds_places
from gpuyard.writes import JSON
from gpuyard_kube.store import Change
from gpuyard_operator.nodes import NodeFacts
from gpuyard_operator.pods import PodFacts


def pods(changes: Iterable[Change[PodFacts]]) -> bool:
    """Whether one has left its node."""
    return any(it.before and it.before.node and not (it.after and it.after.node) for it in changes)


def nodes(changes: Iterable[Change[NodeFacts]]) -> bool:
    """Whether one offers something else."""
    return any(it.after and not (it.before and it.before.offer == it.after.offer) for it in changes)


def reservations(changes: Iterable[Change[JSON]]) -> bool:
    """Whether places were given up."""
    return any(_holds(it.before) and not _holds(it.after) for it in changes)


def _holds(obj: JSON | None) -> bool:
    return obj is not None and holds_places(obj)
