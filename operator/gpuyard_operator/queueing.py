"""Who of a queue's line may start now, who waits for quota, and who waits behind whom: pure functions of the lines.

Stands for the scheduler of Kueue, without borrowing. A line is in the order of priority, then age; between queues the
one that uses less of its quota comes before age. Of each line the first LOOK are judged, in this order:

    what the fewest members need                       answer
    more than is left of the queue's quota             QuotaExceeded
    more than is left when those ahead have theirs     QueuedBehind
    GPUs that one ahead could use, which has quota     QueuedBehind, while that one is firm
    none of these                                      let in, as many members as the quota bears

So the first of a line is never delayed by one behind it: that one starts on what is left when the quota of all ahead
is set aside, and on GPUs that they cannot use. A group is firm until HEAD_SECONDS after it was first refused for want
of room, or not at all if no node can take it; one that is not sets nothing aside nor is in anybody's way.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gpuyard.groups import queues
from gpuyard.groups.queues import Queue
from gpuyard.narration import few
from gpuyard.verdicts import Reason, Rejection
from gpuyard_operator.admission import Admission
from gpuyard_operator.groups import Key
from gpuyard_operator.workloads import Workload

LOOK: Final = 8
"""So many of each line are judged, and know their position: the others wait, whatever they need."""

Order = tuple[int, int, int, Key]


@dataclass(frozen=True, slots=True)
class Line:
    """A queue with what its groups hold, and those that wait: the first firm ones and all others, each in order."""

    queue: Queue
    firm: tuple[Workload, ...] = ()
    others: tuple[Workload, ...] = ()

    def order(self, found: Workload) -> Order:
        """The place of one of this line among those of all lines."""
        priority, since, key = found.rank
        return priority, self.queue.share, since, key


Heads = Sequence[tuple[Order, Workload]]


def judge(lines: Sequence[Line]) -> dict[Key, Admission]:
    """The admission of the first LOOK firm groups of each line, and of all that are not firm."""
    walks = [_Walk(line) for line in lines]
    firsts = [(walk.line.order(walk.opened[0]), walk.opened[0]) for walk in walks if walk.opened]
    heads = sorted(firsts, key=lambda first: first[0])
    return {found.key: admission for walk in walks for found, admission in walk.admissions(heads)}


def beyond(queue: Queue) -> Admission:
    """The admission of a firm group that is not among the first."""
    return _behind(f"{LOOK} or more groups are ahead in queue {queue.name}")


class _Walk:
    """One line, walked once. `opened` are its firm groups for which there is quota, all before them having theirs."""

    def __init__(self, line: Line) -> None:
        self.line, self.opened = line, list[Workload]()
        self._rooms, room = list[Queue](), line.queue
        for found in line.firm:
            self._rooms.append(room)
            if queues.admits(room, found.least) is None:
                self.opened.append(found)
            room = room.with_usage(found.least)
        self._rest = room

    def admissions(self, heads: Heads) -> Iterator[tuple[Workload, Admission]]:
        """`heads`, in order, are the first that are opened of each line: this one's too."""
        foreign = [(order, head) for order, head in heads if head.queue != self.line.queue.name]
        for position, found in enumerate(self.line.firm):
            ahead, own = self.line.firm[:position], self.line.order(found)
            rivals = [
                *(one for one in ahead if one in self.opened),
                *(h for order, h in foreign if order < own),
            ]
            yield found, self._admission(found, self._rooms[position], ahead, rivals)
        for found in self.line.others:
            rivals = [*self.opened, *(head for _, head in foreign)]
            yield found, self._admission(found, self._rest, self.line.firm, rivals)

    def _admission(
        self, found: Workload, room: Queue, ahead: Sequence[Workload], rivals: Sequence[Workload]
    ) -> Admission:
        place = _place(room.name, ahead)
        if (over := queues.admits(self.line.queue, found.least)) is not None:
            return Admission(refusal=replace(over, detail=f"{over.detail}; {place}"))
        if queues.admits(room, found.least) is not None:
            passing = any(one.firm_until == math.inf for one in ahead if one in self.opened)
            return _behind(f"{place}; what is left of the quota is set aside for those", passing)
        rival = next((one for one in rivals if queues.compete(one.kinds, found.kinds)), None)
        if rival is None:
            return Admission(_let_in(found, room))
        passing = rival.firm_until == math.inf
        until = None if passing else rival.firm_until
        return _behind(f"{place}; {_name(rival)} of queue {rival.queue} has its turn before", passing, until)


def _let_in(found: Workload, room: Queue) -> frozenset[str]:
    """As many of its members, in order, as the quota bears."""
    uids = []
    for uid, amounts in found.waiting:
        if queues.admits(room, amounts) is not None:
            break
        room = room.with_usage(amounts)
        uids.append(uid)
    return frozenset(uids)


def _behind(detail: str, passing: bool = False, until: float | None = None) -> Admission:
    return Admission(refusal=Rejection("", Reason.QUEUED_BEHIND, detail), until=until, passing=passing)


def _place(queue: str, ahead: Sequence[Workload]) -> str:
    if not ahead:
        return f"first in queue {queue}"
    return f"position {len(ahead) + 1} in queue {queue}, behind {few([_name(found) for found in ahead])}"


def _name(found: Workload) -> str:
    return "/".join(found.key)
