"""Notices when room may have come into being: only then a gang that did not fit is planned again.

Stands for the queueing hints of kube-scheduler: a node that appears or changes, a pod that frees its node, places
that are given up. What takes room away is of no interest.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gpuyard.groups.plans import PlanAnswer, PlanRequest, Unplaceable
from gpuyard.groups.reservations import from_object, holds_places
from gpuyard.verdicts import Reason
from gpuyard.writes import JSON
from gpuyard_kube.store import Change
from gpuyard_operator.groups import Key, key_of
from gpuyard_operator.nodes import NodeFacts
from gpuyard_operator.pods import PodFacts

_NEVER = (
    Reason.NO_SUCH_RESOURCE,
    Reason.GPU_MODEL_MISMATCH,
    Reason.GPU_MEMORY_TOO_SMALL,
    Reason.TAINT_NOT_TOLERATED,
    Reason.NODE_AFFINITY_MISMATCH,
    Reason.INVALID_REQUEST,
)
"""What a node says that no pod's end will change."""


@dataclass(frozen=True, slots=True)
class Opening:
    """How often room may have come into being, the last time at `at`."""

    count: int = 0
    at: float = 0.0


def ends_help(request: PlanRequest, answer: PlanAnswer) -> bool:
    """Whether the end of other pods might make room: else only a node can, or the group itself."""
    if not isinstance(answer, Unplaceable):
        return True
    # What all nodes together have not is no matter where fewer than those who were asked for need to start.
    all_needed = len(request.members) <= request.needed
    too_much = any(not no.node and no.reason is not Reason.TOPOLOGY_UNSATISFIED for no in answer.rejections)
    return may_pass(answer) and not (all_needed and too_much)


def may_pass(answer: Unplaceable) -> bool:
    """Whether a node says more than what no pod's end will change."""
    return not {found.reason for found in answer.rejections}.issubset(_NEVER)


def pods(changes: Iterable[Change[PodFacts]]) -> bool:
    """Whether one has left its node."""
    return any(it.before and it.before.node and not (it.after and it.after.node) for it in changes)


def nodes(changes: Iterable[Change[NodeFacts]]) -> bool:
    """Whether one offers something else."""
    return any(it.after and it.before != it.after for it in changes)


def reservations(
    changes: Iterable[Change[JSON]],
    pod: Callable[[str], PodFacts | None],
    lost: Callable[[Key], frozenset[str]],
) -> bool:
    """Whether places were given up that their members, known by UID, have not taken, and that are of use."""
    given_up = (it.before for it in changes if _holds(it.before) and not _holds(it.after))
    return any(not _are_taken(obj, pod, lost(key_of(obj))) for obj in given_up if obj is not None)


def _holds(obj: JSON | None) -> bool:
    return obj is not None and holds_places(obj)


def _are_taken(obj: JSON, pod: Callable[[str], PodFacts | None], lost: frozenset[str]) -> bool:
    found = from_object(obj)
    there = (
        [(seat, pod(seat.uid)) for seat in found.seats if seat.uid not in lost] if found else [(None, None)]
    )
    return all(seat and on and on.node == seat.node for seat, on in there)
