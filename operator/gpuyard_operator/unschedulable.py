"""The groups for which there was no room when last asked, and when they look again.

Stands for the unschedulable pods of kube-scheduler's queue, which an event moves back to be tried. Laws: only a
change that may make room moves them, and only those that it may help: where no node would do, the end of a pod does
not; a few at once, many together so seldom that the extender has something else to do than to refuse them again.
"""

from collections.abc import Callable, Iterable
from typing import Final

from gpuyard.groups.plans import Unplaceable
from gpuyard_kube.runtime import Runtime
from gpuyard_operator.asking import Answered
from gpuyard_operator.groups import Key
from gpuyard_operator.queueing_hints import Opening, ends_help

FEW: Final = 50
"""So many groups look again at every change."""
A_SECOND: Final = 100
"""Where there are more than a few, no more than so many look again in a second, on the average."""


class Unschedulable:
    """`opened` is the last change that may have made room, `renewed` the last such one of a node."""

    def __init__(self, runtime: Runtime, wake: Callable[[Key], None]) -> None:
        self._runtime, self._wake = runtime, wake
        self.opened = self.renewed = Opening(0, runtime.now())
        self._keys = dict[Key, bool]()
        """Whether the end of pods might help it, by group."""
        self._due, self._moved, self._waits = 0.0, 0, False

    def note(self, key: Key, answers: Iterable[Answered]) -> None:
        """What is known of a group now."""
        refused = [found for found in answers if isinstance(found.answer, Unplaceable)]
        if refused:
            self._keys[key] = any(ends_help(found.request, found.answer) for found in refused)
        else:
            self._keys.pop(key, None)

    def look(self, openings: int, renewed: int) -> None:
        """Let them look again where there is a new opening; `renewed`: how many there were at the last of a node."""
        if openings == self.opened.count:
            return
        self.opened = Opening(openings, self._runtime.now())
        if renewed != self.renewed.count:
            self.renewed = Opening(renewed, self.opened.at)
        if self.opened.at >= self._due:
            self._move()
        elif not self._waits:
            self._waits = True
            self._runtime.spawn(self._move_later(), "operator unschedulable")

    async def _move_later(self) -> None:
        await self._runtime.sleep_until(self._due)
        self._waits = False
        self._move()

    def _move(self) -> None:
        all_of_them = self._moved < self.renewed.count
        keys = sorted(key for key, helped in self._keys.items() if helped or all_of_them)
        self._moved = self.opened.count
        self._due = self._runtime.now() + (len(keys) / A_SECOND if len(keys) > FEW else 0.0)
        for key in keys:
            self._wake(key)
