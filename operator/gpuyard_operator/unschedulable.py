"""The groups for which there was no room when last asked, and when they look again.

Stands for the unschedulable pods of kube-scheduler's queue, which an event moves back to be tried. Laws: only a
change that may make room for a group moves it (`refusals`): where no node would do, the end of a pod does not. They
look in their turn, one after the other, so that what one has taken is no room for those behind it; a line that has
begun goes by before the next one, so that who stands at its end is not passed over; many together so seldom that the
extender has something else to do than to refuse them again. What sums cannot say, `RETRY_SECONDS` bound.
"""

from collections.abc import Callable, Iterable
from typing import Final

from gpuyard.groups.plans import Planned
from gpuyard_kube.runtime import Runtime
from gpuyard_operator import refusals
from gpuyard_operator.cache import Cache
from gpuyard_operator.deciding.asking import RETRY_SECONDS, SETTLE_SECONDS, Answered
from gpuyard_operator.objects.groups import Key
from gpuyard_operator.outdated import Outdated
from gpuyard_operator.refusals import Refusal
from gpuyard_operator.room.queueing_hints import Opening, Trail

FEW: Final = 50
"""So many groups look again at every change."""
A_SECOND: Final = 100
"""Where there are more than a few, no more than so many look again in a second, on the average."""
LOOK_SECONDS: Final = 1.0
"""So long at most the next one waits for the one that looks, whatever has become of that."""


class Unschedulable:
    """`wake` lets a group look; `last` is the last change that may have made room for anybody."""

    def __init__(self, runtime: Runtime, wake: Callable[[Key], None], cache: Cache) -> None:
        self._runtime, self._wake, self._cache = runtime, wake, cache
        self.last = Opening(0, runtime.now())
        self._groups, self._trail = dict[Key, Refusal](), Trail()
        self._outdated = Outdated(runtime, wake, cache)
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

    def take_turn(self, key: Key) -> bool:
        """Whether a group is to ask for numbers when it looks now; the next time it is not."""
        return self._outdated.take_turn(key)

    def is_looking(self, key: Key) -> bool:
        """Whether others wait for it."""
        return key == self._looking

    def note(self, key: Key, answers: Iterable[Answered] = (), *, again: bool = False) -> None:
        """What is known of a group now; `again`: it looks again at once, be it to record its places."""
        known = [*answers]
        refused = refusals.refused(known)
        self._outdated.note(key, refused)
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
        self._expire()
        self._outdated.look()
        if openings.count == self.last.count:
            return
        by_node = openings.renewed > self.last.count
        self.last, where = Opening(openings.count, self._runtime.now()), openings.take()
        self._trail.add(where, self.last, 2 * RETRY_SECONDS)
        if by_node:
            self._anyway.update(self._groups)
        for key, found in self._groups.items():
            helps = by_node or (found.ends_help and refusals.may_help(found, where, self._cache))
            if helps and key not in self._line:
                self._moved.add(key)
        self._next()

    def _expire(self) -> None:
        self._cache.openings.add(self._cache.headroom.expire(self._runtime.now()))

    @property
    def _due(self) -> float:
        return self._began + (self._looks / A_SECOND if self._looks > FEW else 0.0)

    def _refuse(self, key: Key, refused: list[Answered]) -> None:
        known = self._groups.get(key)
        found = refusals.read(key, refused, known.opened if known else Opening(), self._cache)
        if known is None and (found.change < self._cache.openings.renewed or self._may_start(found)):
            # The extender may not have seen it, or was asked before it came.
            found.opened = self.last
        elif known is not None and (key in self._moved or key in self._line):
            found.change, found.at = min(known.change, found.change), min(known.at, found.at)
        self._groups[key] = found

    def _may_start(self, found: Refusal) -> bool:
        """An extender that lags may not have seen what came shortly before it answered."""
        nodes = tuple(self._trail.since(found.change, found.at - SETTLE_SECONDS))
        return refusals.may_start(found, nodes, self._cache, self._runtime.now())

    def _next(self) -> None:
        self._expire()
        while self._looking is None and (self._line or self._begins()):
            key = self._line.pop()
            found, anyway = self._groups.get(key), key in self._anyway
            self._anyway.discard(key)
            if found is None:
                continue
            if anyway or self._may_start(found):
                self._let_look(key, found)
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

    def _let_look(self, key: Key, found: Refusal) -> None:
        found.opened = self.last
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
