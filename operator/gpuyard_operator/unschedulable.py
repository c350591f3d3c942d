"""The groups for which there was no room when last asked, and when they look again.

Stands for the unschedulable pods of kube-scheduler's queue, which an event moves back to be tried. Laws: only a
change that may make room for a group moves it: where no node would do, the end of a pod does not, nor does one where
none of its members could go, nor while all that is left is too little (`headroom`). What nodes offer is another
matter: that is seldom, and what they lack by it is to be told. They look in their turn, one after the other, so that
what one has taken is no room for those behind it; a line that has begun goes by before the next one, so that who
stands at its end is not passed over; many together so seldom that the extender has something else to do than to
refuse them again. What sums cannot say, `RETRY_SECONDS` bound.
"""

from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass
from typing import Final

from gpuyard.groups.plans import Planned, Unplaceable
from gpuyard_kube.runtime import Runtime
from gpuyard_operator.cache import Cache
from gpuyard_operator.deciding.asking import Answered
from gpuyard_operator.objects.groups import Key
from gpuyard_operator.queues import workloads
from gpuyard_operator.queues.workloads import Rank
from gpuyard_operator.room.demands import Demand
from gpuyard_operator.room.queueing_hints import Opening, ends_help

FEW: Final = 50
"""So many groups look again at every change."""
A_SECOND: Final = 100
"""Where there are more than a few, no more than so many look again in a second, on the average."""
LOOK_SECONDS: Final = 1.0
"""So long at most the next one waits for the one that looks, whatever has become of that."""


@dataclass(slots=True)
class _Refused:
    """`demands` are what it asked for in vain, None where sums do not say; `opened` is the last change for it."""

    rank: Rank
    demands: tuple[Demand, ...] | None
    ends_help: bool
    opened: Opening


class Unschedulable:
    """`wake` lets a group look; `last` is the last change that may have made room for anybody."""

    def __init__(self, runtime: Runtime, wake: Callable[[Key], None], cache: Cache) -> None:
        self._runtime, self._wake, self._cache = runtime, wake, cache
        self.last = Opening(0, runtime.now())
        self._groups = dict[Key, _Refused]()
        self._moved, self._line = set[Key](), list[Key]()
        """Who is to look when the line has gone by; the line, the last one first."""
        self._anyway = set[Key]()
        """Those who look whatever sums say."""
        self._looking: Key | None = None
        self._until, self._watched = 0.0, False
        self._began, self._looks, self._waits = 0.0, 0, False

    def opened(self, key: Key) -> Opening:
        """The last change that may have made room for a group."""
        return self._groups[key].opened if key in self._groups else self.last

    def is_looking(self, key: Key) -> bool:
        """Whether others wait for it."""
        return key == self._looking

    def note(self, key: Key, answers: Iterable[Answered] = (), *, again: bool = False) -> None:
        """What is known of a group now; `again`: it looks again at once, be it to record its places."""
        known = [*answers]
        refused = [found for found in known if isinstance(found.answer, Unplaceable)]
        if refused:
            self._refuse(key, refused)
        else:
            self._groups.pop(key, None)
            self._moved.discard(key)
            self._anyway.discard(key)
        recording = again and bool(known) and isinstance(known[-1].answer, Planned)
        if key == self._looking and not recording:
            self._looking = None
            self._next()

    def look(self) -> None:
        """Let those look again for whom room may have come since."""
        openings = self._cache.openings
        if openings.count == self.last.count:
            return
        by_node = openings.renewed > self.last.count
        self.last, where = Opening(openings.count, self._runtime.now()), openings.take()
        self._cache.headroom.expire(self.last.at)
        if by_node:
            self._anyway.update(self._groups)
        moved = set[Key]()
        for key, found in self._groups.items():
            if by_node or (found.ends_help and self._may_help(found, where)):
                found.opened = self.last
                moved.add(key)
        self._moved |= moved.difference(self._line)
        self._next()

    @property
    def _due(self) -> float:
        return self._began + (self._looks / A_SECOND if self._looks > FEW else 0.0)

    def _refuse(self, key: Key, refused: list[Answered]) -> None:
        read = [self._cache.demand(found.request) for found in refused]
        demands = tuple(found for found in read if found is not None)
        found = _Refused(
            workloads.rank(key, self._cache.group(key), self._cache.pods(key)),
            demands if len(demands) == len(read) else None,
            any(ends_help(one.request, one.answer) for one in refused),
            Opening(),
        )
        if key in self._groups:
            found.opened = self._groups[key].opened
        elif self._may_do(found) or min(one.change for one in refused) < self._cache.openings.renewed:
            # The extender may not have seen it, or was asked before it came.
            found.opened = self.last
        self._groups[key] = found

    def _next(self) -> None:
        self._cache.headroom.expire(self._runtime.now())
        while self._looking is None and (self._line or self._begins()):
            key = self._line.pop()
            found, anyway = self._groups.get(key), key in self._anyway
            self._anyway.discard(key)
            if found is None:
                continue
            if anyway or self._may_do(found):
                self._let_look(key)
            else:
                found.opened = Opening()

    def _begins(self) -> bool:
        """Whether there is a line again, of those for whom changes came while the last one went by."""
        if not self._moved:
            return False
        if self._runtime.now() < self._due:
            if not self._waits:
                self._waits = True
                self._runtime.spawn(self._begin_later(), "operator unschedulable")
            return False
        self._began, self._looks = self._runtime.now(), 0
        self._line = sorted(self._moved, key=lambda key: self._groups[key].rank, reverse=True)
        self._moved.clear()
        return True

    def _let_look(self, key: Key) -> None:
        self._looks += 1
        self._looking, self._until = key, self._runtime.now() + LOOK_SECONDS
        if not self._watched:
            self._watched = True
            self._runtime.spawn(self._pass_on(), "operator unschedulable")
        self._wake(key)

    async def _begin_later(self) -> None:
        while self._runtime.now() < self._due:
            await self._runtime.sleep_until(self._due)
        self._waits = False
        self._next()

    async def _pass_on(self) -> None:
        """Who raises, or gets no answer, keeps nobody else waiting for long."""
        while self._looking is not None:
            await self._runtime.sleep_until(self._until)
            if self._looking is not None and self._runtime.now() >= self._until:
                self._looking = None
                self._next()
        self._watched = False

    def _may_help(self, found: _Refused, where: Set[str]) -> bool:
        if found.demands is None or self._preempts(found):
            return True
        room = self._cache.headroom
        return any(room.may_help(demand, where) and room.may_do(demand) for demand in found.demands)

    def _may_do(self, found: _Refused) -> bool:
        if found.demands is None or self._preempts(found):
            return True
        return any(map(self._cache.headroom.may_do, found.demands))

    def _preempts(self, found: _Refused) -> bool:
        """Whether what others hold might be made free for it."""
        lowest, urgency = self._cache.victims.lowest, -found.rank[0]
        return lowest is not None and urgency > lowest
