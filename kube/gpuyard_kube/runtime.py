"""The ports through which a service waits, and their asyncio implementation.

A service awaits nothing but these ports, so that the same code runs in real time on asyncio and,
single-stepped, on a fake clock that moves only when told (`gpuyard_cluster.clock`).
"""

import asyncio
import functools
import time
from collections.abc import Callable, Coroutine
from typing import Any, Protocol


class Signal(Protocol):
    """Something that happens now and then."""

    def fire(self) -> None:
        """Wake everyone who waits."""

    async def wait(self, until: float | None = None) -> bool:
        """Wait for the next `fire`; False when `until` (seconds since the epoch) came first."""


class Runtime(Protocol):
    """Time and tasks."""

    def now(self) -> float:
        """Seconds since the epoch: for moments that objects carry, and which others compare with their clocks."""

    def steady(self) -> float:
        """Seconds that no setting of the machine's clock changes: for how long something lasts in this process."""

    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Start `work` beside the caller; an exception of it is reported, not lost."""

    async def sleep_until(self, when: float) -> None:
        """Wait until `now() >= when`."""

    def signal(self) -> Signal:
        """A new signal."""


def _steady_clock() -> Callable[[], float]:
    """The one that goes on while the machine is suspended, where there is one: Linux."""
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic if boot is None else functools.partial(time.clock_gettime, boot)


_steady = _steady_clock()


class AsyncioSignal:
    """A signal on the running event loop."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[None]] = set()

    def fire(self) -> None:
        for future in self._waiting:
            if not future.done():
                future.set_result(None)

    async def wait(self, until: float | None = None) -> bool:
        future = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            # Both clocks are read here and nowhere else: `until` is a moment, a timeout is a span.
            timeout = None if until is None else max(0.0, until - time.time())  # noqa: TID251
            done, _ = await asyncio.wait({future}, timeout=timeout)
            return bool(done)
        finally:
            self._waiting.discard(future)


class AsyncioRuntime:
    """Real time on the running event loop. `report` gets the exception of a task that failed."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def now(self) -> float:
        return time.time()  # noqa: TID251

    def steady(self) -> float:
        return _steady()

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

    def signal(self) -> Signal:
        return AsyncioSignal()

    async def close(self) -> None:
        """Cancel every task that was spawned, and wait for their end."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
