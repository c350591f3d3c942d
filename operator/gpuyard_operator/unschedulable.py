"""The groups for which there was no room when last asked, and when they look again.

Stands for the unschedulable pods of kube-scheduler's queue, which an event moves back to be tried. Laws: only a
change that may make room moves them, and only those that were refused; a few at once, many together so seldom that
the extender has something else to do than to refuse them again.
"""

from collections.abc import Callable, Iterable
from typing import Final

from gpuyard.groups.plans import Unplaceable
from gpuyard_kube.runtime import Runtime
from gpuyard_operator.asking import Answered
from gpuyard_operator.groups import Key

FEW: Final = 50
"""So many groups look again at every change."""
A_SECOND: Final = 100
"""Where there are more than a few, no more than so many look again in a second, on the average."""


class Unschedulable:
    """`openings` is how often room may have come into being, the last time at `opened_at`."""

    def __init__(self, runtime: Runtime, wake: Callable[[Key], None]) -> None:
        self._runtime, self._wake = runtime, wake
        self.openings, self.opened_at = 0, runtime.now()
        self._keys = set[Key]()
        self._due, self._waits = 0.0, False

    def note(self, key: Key, answers: Iterable[Answered]) -> None:
        """What is known of a group now."""
        refused = any(isinstance(found.answer, Unplaceable) for found in answers)
        (self._keys.add if refused else self._keys.discard)(key)

    def look(self, openings: int) -> None:
        """Let them look again where there is a new opening."""
        if openings == self.openings:
            return
        self.openings, self.opened_at = openings, self._runtime.now()
        if self.opened_at >= self._due:
            self._move()
        elif not self._waits:
            self._waits = True
            self._runtime.spawn(self._move_later(), "operator unschedulable")

    async def _move_later(self) -> None:
        await self._runtime.sleep_until(self._due)
        self._waits = False
        self._move()

    def _move(self) -> None:
        pause = len(self._keys) / A_SECOND if len(self._keys) > FEW else 0.0
        self._due = self._runtime.now() + pause
        for key in sorted(self._keys):
            self._wake(key)
