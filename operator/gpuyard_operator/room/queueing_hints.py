"""Notices when room may have come into being: only then a gang that did not fit is planned again.

Stands for the queueing hints of kube-scheduler: a node that appears or changes, a pod that frees its node, places
that are given up. What takes room away is of no interest.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from gpuyard.groups.plans import PlanAnswer, PlanRequest, Unplaceable
from gpuyard.groups.reservations import from_object, holds_places
from gpuyard.verdicts import Reason
from gpuyard.writes import JSON
from gpuyard_kube.store import Change
from gpuyard_operator.objects.nodes import NodeFacts
from gpuyard_operator.objects.pods import PodFacts

NEVER = (
    Reason.NO_SUCH_RESOURCE,
    Reason.GPU_MODEL_MISMATCH,
    Reason.GPU_MEMORY_TOO_SMALL,
    Reason.TAINT_NOT_TOLERATED,
    Reason.NODE_AFFINITY_MISMATCH,
    Reason.INVALID_REQUEST,
)
"""What a node says that no pod's end will change."""


ANYWHERE = ""
"""Where room may have come, when nobody can say on which node."""


@dataclass(frozen=True, slots=True)
class Opening:
    """How often room may have come into being, the last time at `at`."""

    count: int = 0
    at: float = 0.0


class Openings:
    """The changes by which room may have come into being: `count` of them, `renewed` as of the last by a node."""

    def __init__(self) -> None:
        self.count = self.renewed = 0
        self._nodes = set[str]()

    def add(self, nodes: set[str], *, renewed: bool = False) -> None:
        """It may have come on these nodes, if any."""
        self.count += bool(nodes)
        self._nodes |= nodes
        if nodes and renewed:
            self.renewed = self.count

    def take(self) -> set[str]:
        """The nodes of all since this was last asked."""
        taken, self._nodes = self._nodes, set()
        return taken


class Trail:
    """On which nodes room may have come, and by which change at last, as long as any answer is believed."""

    def __init__(self) -> None:
        self._last = dict[str, Opening]()

    def add(self, nodes: Iterable[str], opening: Opening, lasts: float) -> None:
        """It may have come there by this change, the newest; those that are older than that are forgotten."""
        for name in nodes:
            self._last.pop(name, None)
            self._last[name] = opening
        while (first := next(iter(self._last), None)) is not None:
            if self._last[first].at + lasts > opening.at:
                return
            del self._last[first]

    def since(self, change: int, at: float) -> Iterator[str]:
        """Where it has come by a later change than this one, or later than at that moment."""
        for name in reversed(self._last):
            found = self._last[name]
            if found.count <= change and found.at <= at:
                return
            yield name


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
    return not {found.reason for found in answer.rejections}.issubset(NEVER)


def pods(changes: Iterable[Change[PodFacts]]) -> set[str]:
    """The nodes that one has left."""
    return {
        it.before.node for it in changes if it.before and it.before.node and not (it.after and it.after.node)
    }


def nodes(changes: Iterable[Change[NodeFacts]]) -> set[str]:
    """Those that offer something else."""
    return {it.after.name for it in changes if it.after and it.before != it.after}


def reservations(changes: Iterable[Change[JSON]], pod: Callable[[str], PodFacts | None]) -> set[str]:
    """The nodes of places that were given up and were not taken by their members, known by UID.

    Also of those that were lost: what they were for is of no use to their group, and may be of use to others.
    """
    given_up = (it.before for it in changes if _holds(it.before) and not _holds(it.after))
    return {name for obj in given_up if obj is not None for name in _untaken(obj, pod)}


def _holds(obj: JSON | None) -> bool:
    return obj is not None and holds_places(obj)


def _untaken(obj: JSON, pod: Callable[[str], PodFacts | None]) -> Iterator[str]:
    found = from_object(obj)
    if found is None:
        yield ANYWHERE
        return
    for seat in found.seats:
        on = pod(seat.uid)
        if on is None or on.node != seat.node:
            yield seat.node
