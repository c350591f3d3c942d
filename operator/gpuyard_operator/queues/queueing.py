"""Who of a queue's line may start now, who waits for quota, and who waits behind whom: pure functions of the lines.

Stands for the scheduler of Kueue, without borrowing. A line is in the order of priority, then age; between queues the
one that uses less of its quota comes before age. Of each line the first LOOK are judged, in this order:

    what the fewest members need                       answer
    more than all of the queue's quota                 QuotaExceeded, until another quota is set
    more than is left of the queue's quota             QuotaExceeded
    more than is left when those ahead have theirs     QueuedBehind
    GPUs that one ahead could use, which has quota     QueuedBehind, while that one is firm
    none of these                                      let in, as many members as the quota bears

So the first of a line is never delayed by one behind it: that one starts on what is left when the quota of all ahead
is set aside, and on GPUs that they cannot use. A group is firm until HEAD_SECONDS after it was first refused for want
of room, or not at all if no node can take it; one that is not sets nothing aside nor is in anybody's way, and is
judged when it looks (`overtaken`): there may be thousands that can never start.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from operator import itemgetter
from typing import Final

from gpuyard.groups import queues
from gpuyard.groups.queues import Queue
from gpuyard.narration import few
from gpuyard.verdicts import Reason, Rejection
from gpuyard_operator.deciding.admission import Admission
from gpuyard_operator.objects.groups import Key
from gpuyard_operator.queues.workloads import Workload

LOOK: Final = 8
"""So many of each line are judged, and know their position: the others wait, whatever they need."""

Order = tuple[int, int, int, Key]
Heads = Sequence[tuple[Order, Workload]]


@dataclass(frozen=True, slots=True)
class Line:
    """A queue with what its groups hold, and the first LOOK of those that wait and are firm, in order."""

    queue: Queue
    firm: tuple[Workload, ...] = ()

    def order(self, found: Workload) -> Order:
        """The place of one of this line among those of all lines."""
        priority, since, key = found.rank
        return priority, self.queue.share, since, key


class Judgement:
    """All lines at one moment."""

    def __init__(self, lines: Iterable[Line] = ()) -> None:
        self._walks = {line.queue.name: _Walk(line) for line in lines}
        opened = [walk for walk in self._walks.values() if walk.opened]
        firsts = [(walk.line.order(walk.opened[0]), walk.opened[0]) for walk in opened]
        self._heads = sorted(firsts, key=lambda first: first[0])

    def firsts(self) -> dict[Key, Admission]:
        """The admissions of the first of each line."""
        found = (admission for walk in self._walks.values() for admission in walk.firsts(self._heads))
        return dict(found)

    def overtaken(self, found: Workload) -> Admission:
        """The admission of a group that waits and is not firm."""
        return self._walks[found.queue].overtaken(found, self._heads)


def never(queue: Queue, found: Workload) -> Admission | None:
    """The admission of a group that needs more than all of its queue's quota, whatever others hold of that."""
    over = queues.admits(replace(queue, used={}), found.least)
    return Admission(refusal=replace(over, detail=f"{over.detail}: more than all of it")) if over else None


def beyond(queue: Queue) -> Admission:
    """The admission of a firm group that is not among the first."""
    return _behind(f"{LOOK} or more groups are ahead in queue {queue.name}")


class _Walk:
    """One line, walked once. `opened` are its firm groups for which there is quota, all before them having theirs.

    `heads`, in order, are the first that are opened of each line: this one's too.
    """

    def __init__(self, line: Line) -> None:
        self.line, self.opened = line, list[Workload]()
        self._rooms, room = list[Queue](), line.queue
        for found in line.firm:
            self._rooms.append(room)
            if queues.admits(room, found.least) is None:
                self.opened.append(found)
            room = room.with_usage(found.least)
        self._rest = room

    def firsts(self, heads: Heads) -> Iterator[tuple[Key, Admission]]:
        for position, found in enumerate(self.line.firm):
            ahead = self.line.firm[:position]
            before = islice(heads, bisect_left(heads, self.line.order(found), key=itemgetter(0)))
            rivals = chain((one for one in ahead if one in self.opened), self._foreign(before))
            yield found.key, self._admission(found, self._rooms[position], ahead, rivals)

    def overtaken(self, found: Workload, heads: Heads) -> Admission:
        rivals = chain(self.opened, self._foreign(heads))
        return self._admission(found, self._rest, self.line.firm, rivals)

    def _foreign(self, heads: Iterable[tuple[Order, Workload]]) -> Iterator[Workload]:
        return (head for _, head in heads if head.queue != self.line.queue.name)

    def _admission(
        self, found: Workload, room: Queue, ahead: Sequence[Workload], rivals: Iterable[Workload]
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
