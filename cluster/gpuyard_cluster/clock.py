"""A clock that moves only when told, and the work that waits on it.

Stands for time itself. `Steps` is a `gpuyard_kube.runtime.Runtime` without event loop, thread or socket: work
is a queue of items, each runs until it waits, and nothing happens until someone calls `step` or `advance_to`.
"""

import heapq
from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass, field
from typing import Any, Final

from gpuyard_kube.runtime import Signal

MOST_AT_ONCE: Final = 1_000_000
"""Items that run at one moment; with more of them somebody waits for a moment that is already there, for ever."""

Wake = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Wait:
    """What suspended work yields: it goes on when `subscribe`d to wakes it, or at `until`."""

    until: float | None
    subscribe: Callable[[Wake], None] | None = None

    def __await__(self) -> Generator["Wait", bool, bool]:
        return (yield self)


@dataclass(order=True, slots=True)
class _Item:
    when: float
    number: int
    name: str = field(compare=False)
    run: Callable[[], None] = field(compare=False)
    cancelled: bool = field(default=False, compare=False)


class Death(BaseException):
    """Raised into work of a part that has just died, so that it does nothing more. Nobody catches it."""


def _always() -> bool:
    return True


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """Work that goes on, step by step, for as long as the part that it belongs to is `alive`."""

    work: Coroutine[Any, Any, None]
    name: str
    alive: Callable[[], bool] = _always


class StepSignal:
    """A signal whose waiters go on as items of their own."""

    def __init__(self) -> None:
        self._waiting: list[Wake] = []

    def fire(self) -> None:
        waiting, self._waiting = self._waiting, []
        for wake in waiting:
            wake()

    async def wait(self, until: float | None = None) -> bool:
        return await Wait(until, self._waiting.append)


class Steps:
    """Time that is stepped by hand. `start` is in seconds since the epoch."""

    def __init__(self, start: float = 1_700_000_000.0) -> None:
        self._now = start
        self._numbers = self._at_once = 0
        self._items: list[_Item] = []
        self._tasks: set[Task] = set()

    def now(self) -> float:
        return self._now

    def steady(self) -> float:
        return self._now

    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        self.start(Task(work, name))

    def start(self, task: Task) -> None:
        """Queue the beginning of a task."""
        self._tasks.add(task)
        self.call_at(self._now, task.name, lambda: self._go_on(task, None))

    async def sleep_until(self, when: float) -> None:
        if when > self._now:
            await Wait(when)

    def signal(self) -> Signal:
        return StepSignal()

    def call_at(self, when: float, name: str, run: Callable[[], None]) -> _Item:
        """Queue `run` for the moment `when`; items of one moment run in the order of their queueing."""
        self._numbers += 1
        item = _Item(max(when, self._now), self._numbers, name, run)
        heapq.heappush(self._items, item)
        return item

    def step(self) -> str | None:
        """Run the next item that is due now; its name, or None when nothing is due.

        RuntimeError when there is no end of them.
        """
        while self._items and self._items[0].when <= self._now:
            item = heapq.heappop(self._items)
            if not item.cancelled:
                self._at_once += 1
                if self._at_once > MOST_AT_ONCE:
                    raise RuntimeError(f"time stands still at {self._now}: {item.name!r} goes on for ever")
                item.run()
                return item.name
        return None

    def next_at(self) -> float | None:
        """When the next item is due; None when there is none."""
        while self._items and self._items[0].cancelled:
            heapq.heappop(self._items)
        return self._items[0].when if self._items else None

    def advance_to(self, when: float) -> None:
        """Move the time forward. Items that are due on the way must have been stepped first."""
        if when < self._now:
            raise ValueError(f"time does not go back: {when} is before {self._now}")
        following = self.next_at()
        if following is not None and following < when:
            raise ValueError(f"an item is due at {following}, before {when}: step to it first")
        if when > self._now:
            self._at_once = 0
        self._now = when

    def complete(self, work: Coroutine[Any, Any, Any]) -> Any:
        """The result of work that must not wait, run on the spot."""
        try:
            work.send(None)
        except StopIteration as end:
            return end.value
        work.close()
        raise RuntimeError("this work waits: spawn it instead")

    def close(self) -> None:
        """Drop all work."""
        for task in self._tasks:
            task.work.close()
        self._tasks.clear()
        self._items.clear()

    def _go_on(self, task: Task, value: bool | None) -> None:
        try:
            if task.alive():
                self._suspend(task, task.work.send(value))
                return
            task.work.close()
        except (StopIteration, Death):
            pass
        self._tasks.discard(task)

    def _suspend(self, task: Task, wait: Wait) -> None:
        woken = False
        timer: _Item | None = None

        def wake(value: bool) -> None:
            nonlocal woken
            if woken:
                return
            woken = True
            if timer is not None:
                timer.cancelled = True
            self.call_at(self._now, task.name, lambda: self._go_on(task, value))

        if wait.subscribe is not None:
            wait.subscribe(lambda: wake(True))
        if wait.until is not None:
            timer = self.call_at(wait.until, task.name, lambda: wake(False))
