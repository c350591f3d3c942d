"""The terminal of `gpuyard top`: drawn anew when something has changed, until q, Ctrl-C or SIGTERM.

Stands for `watch kubectl get`, with list and watch instead of asking again. Law: four drawings a second at the most,
none without a change; the terminal is afterwards as it was before, however it ends; what keeps a list from coming is
told in the last line, for what is shown is of before.
"""

import asyncio
import contextlib
import logging
import os
import shutil
import signal
import sys
import termios
import tty
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from gpuyard_cli.top.reading import Followed
from gpuyard_cli.top.watched import PATHS
from gpuyard_kube import informer
from gpuyard_kube.http import HttpApi
from gpuyard_kube.informer import Informer

Drawn = Callable[[int, int, str], Sequence[str]]
"""Width, height and a last line -> lines."""

_REDRAW_SECONDS: Final = 0.25
_ENDS: Final = "q ends"
_OPENED, _CLOSED = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
"""xterm's second screen without a cursor; back to the first."""


def frame(lines: Sequence[str]) -> str:
    """What draws these lines over the ones before, without a flicker."""
    return "\x1b[H" + "\r\n".join(f"{line}\x1b[K" for line in lines) + "\x1b[J"


class Live(logging.Handler):
    """What is to be known for the next drawing; as a logging handler it hears what the informer complains of."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.changed, self.ended = asyncio.Event(), asyncio.Event()
        self._problems: dict[str, str] = {}

    def heard(self, resource: str) -> None:
        """Something came of the resource: whatever was wrong with it is so no more."""
        self._problems.pop(resource, None)
        self.changed.set()

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        self._problems[text.partition(" ")[0]] = text
        self.changed.set()

    @property
    def foot(self) -> str:
        return "; ".join((_ENDS, *self._problems.values()))

    def typed(self) -> None:
        """A key was hit, or there are no more to come."""
        keys = os.read(sys.stdin.fileno(), 64)
        if b"q" in keys.lower():
            self.ended.set()
        if not keys:
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())


async def follow(api: HttpApi, followed: Followed, drawn: Drawn) -> None:
    """Draw what is followed until the user ends it."""
    live = Live()
    followed.heard = live.heard
    with _signals(live), _complaints(live):
        tasks = [asyncio.create_task(live.ended.wait()), asyncio.create_task(_lists(api, followed))]
        try:
            with _terminal(live):
                await _draw(live, drawn, tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _lists(api: HttpApi, followed: Followed) -> None:
    await Informer(api, followed, PATHS).run()


async def _draw(live: Live, drawn: Drawn, tasks: Sequence["asyncio.Task[object]"]) -> None:
    shown: object = None
    while True:
        live.changed.clear()
        size = shutil.get_terminal_size()
        # In the last column a terminal waits to wrap, and what clears the rest of the line takes its sign, too.
        lines = drawn(size.columns - 1, size.lines, live.foot)
        if (size, lines) != shown:
            shown = (size, lines)
            sys.stdout.write(frame(lines))
            sys.stdout.flush()
        await asyncio.wait(tasks, timeout=_REDRAW_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        news = asyncio.create_task(live.changed.wait())
        await asyncio.wait((*tasks, news), return_when=asyncio.FIRST_COMPLETED)
        news.cancel()
        for task in tasks:
            if task.done():
                task.result()
                return


@contextlib.contextmanager
def _signals(live: Live) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, live.ended.set)
    loop.add_signal_handler(signal.SIGWINCH, live.changed.set)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGWINCH)


@contextlib.contextmanager
def _complaints(live: Live) -> Iterator[None]:
    """The informer's go into the last line, and not across the table."""
    informer.log.addHandler(live)
    informer.log.propagate = False
    try:
        yield
    finally:
        informer.log.removeHandler(live)
        informer.log.propagate = True


@contextlib.contextmanager
def _terminal(live: Live) -> Iterator[None]:
    """The second screen, and keys as they are hit where there is a keyboard."""
    keyboard = sys.stdin.fileno() if sys.stdin.isatty() else None
    with contextlib.ExitStack() as undo:
        if keyboard is not None:
            undo.callback(termios.tcsetattr, keyboard, termios.TCSADRAIN, termios.tcgetattr(keyboard))
            tty.setcbreak(keyboard)
            asyncio.get_running_loop().add_reader(keyboard, live.typed)
            undo.callback(asyncio.get_running_loop().remove_reader, keyboard)
        undo.callback(_write, _CLOSED)
        _write(_OPENED)
        yield


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
