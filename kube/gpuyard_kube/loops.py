"""Work that goes on whatever happens: a turn that fails is reported, and followed by the next one.

Stands for `wait.Until` and the rate-limited work queues of client-go. Law: who works in turns works until it says
that it has nothing left to do; an exception, which is a fault of ours, costs a pause and never the rest of the work.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from gpuyard_kube.runtime import Runtime

FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 64.0
"""Seconds after a turn that failed: doubled with each further one, from the first to the longest."""

Turn = Callable[[], Awaitable[bool]]
"""Does some work. Whether there may be more."""


def keep_on(runtime: Runtime, turn: Turn, name: str) -> None:
    """Take one turn after the other, beside the caller, until one answers False."""
    runtime.spawn(_turns(runtime, turn, name, FIRST_PAUSE), name)


async def _turns(runtime: Runtime, turn: Turn, name: str, pause: float) -> None:
    try:
        while await turn():
            pause = FIRST_PAUSE
    except Exception:
        # The runtime reports what goes through here: so the rest is somebody else's.
        runtime.spawn(_later(runtime, turn, name, pause), name)
        raise


async def _later(runtime: Runtime, turn: Turn, name: str, pause: float) -> None:
    await runtime.sleep_until(runtime.now() + pause)
    await _turns(runtime, turn, name, min(2 * pause, LONGEST_PAUSE))
