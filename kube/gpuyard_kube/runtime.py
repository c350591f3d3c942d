"""The ports through which a service waits, and their asyncio implementation.

A service awaits nothing but these ports, so that the same code runs in real time on asyncio and,
single-stepped, on a fake clock that moves only when told (`gpuyard_cluster.clock`).
"""

import asyncio
import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Final, Protocol

DRIFT: Final = 0.1
"""By this part of the time that has passed, at most, a `Clock` runs faster or slower so as to show the right time."""


class Signal(Protocol):
    """Something that happens now and then."""

    def fire(self) -> None:
        """Wake everyone who waits."""

    async def wait(self, until: float | None = None) -> bool:
        """Wait for the next `fire`; False when `until` (seconds since the epoch) came first."""


class Runtime(Protocol):
    """Time and tasks."""

    def now(self) -> float:
        """Seconds since the epoch."""

    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Start `work` beside the caller; an exception of it is reported, not lost."""

    async def sleep_until(self, when: float) -> None:
        """Wait until `now() >= when`."""

    def signal(self) -> Signal:
        """A new signal."""


class Clock:
    """Seconds since the epoch that never step, whatever is done to the machine's clock.

    Law: between two readings passes the time that has passed, give or take `DRIFT`. It begins with the wall clock and
    goes on with a steady one; where the wall clock is set it follows by `DRIFT` (a minute in ten, an hour in ten
    hours), and a new process begins with the new time. So nothing that lasts a while (an assumption, a Lease, a
    barrier) ends sooner or later than by that part, and what processes tell each other about comes to one time again.
    """

    def __init__(self, wall: Callable[[], float], steady: Callable[[], float]) -> None:
        self._wall, self._steady = wall, steady
        self._last = wall(), steady()
        """One value, so that another thread never reads half of it."""

    def now(self) -> float:
        (told, at), steady = self._last, self._steady()
        span = max(0.0, steady - at)  # below zero where another thread was faster
        ahead = self._wall() - (told + span)
        now = told + span + max(-DRIFT * span, min(ahead, DRIFT * span))
        self._last = now, steady
        return now


_STEADY: Final[int] = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""The one that goes on while a laptop sleeps; macOS has no other."""
_PROCESS: Final = Clock(time.time, partial(time.clock_gettime, _STEADY))  # noqa: TID251
"""All parts of a process have one time."""


class AsyncioSignal:
    """A signal on the running event loop."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now, self._waiting = now, set[asyncio.Future[None]]()

    def fire(self) -> None:
        for future in self._waiting:
            if not future.done():
                future.set_result(None)

    async def wait(self, until: float | None = None) -> bool:
        future = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            # `until` is a moment, a timeout is a span.
            timeout = None if until is None else max(0.0, until - self._now())
            done, _ = await asyncio.wait({future}, timeout=timeout)
            return bool(done)
        finally:
            self._waiting.discard(future)


class AsyncioRuntime:
    """Real time on the running event loop. `report` gets the exception of a task that failed."""

    def __init__(self, clock: Clock = _PROCESS) -> None:
        self._clock, self._tasks = clock, set[asyncio.Task[None]]()

    def now(self) -> float:
        return self._clock.now()

    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            context = {"message": f"task {task.get_name()} failed", "exception": error, "task": task}
            task.get_loop().call_exception_handler(context)

    async def sleep_until(self, when: float) -> None:
        await asyncio.sleep(max(0.0, when - self.now()))
        while (left := when - self.now()) > 0:  # where the clock is slow
            await asyncio.sleep(left)

    def signal(self) -> Signal:
        return AsyncioSignal(self.now)

    async def close(self) -> None:
        """Cancel every task that was spawned, and wait for their end."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
