"""Tells listeners what changed on the page.

Stands for a watch. Laws: the ledger is looked at once for all listeners, only while there are any, at most every
200 ms, and mostly for a twentieth of the time at most, however large it is; a slow listener misses what was between,
and keeps nothing alive but its connection.
"""

from collections.abc import AsyncIterator
from typing import Final

from gpuyard_extender.web.ui.painting import Painter
from gpuyard_extender.web.ui.pieces import NOTHING
from gpuyard_kube.runtime import Runtime

LOOK_SECONDS: Final = 0.2
_SHARE: Final = 20
_MOST_SECONDS: Final = 2.0
"""The first look at a large cluster takes long; nobody is to wait for the second one twenty times as long."""
MOST_LISTENERS: Final = 64
BEAT_SECONDS: Final = 10.0
"""A sign of life while nothing changes."""
LONGEST_SECONDS: Final = 600.0
"""Then a listener has to come again, and to show again that it may."""


class Broadcast:
    """The page of one extender, to everyone who looks at it."""

    def __init__(self, painter: Painter, runtime: Runtime) -> None:
        self._painter, self._runtime = painter, runtime
        self._news = runtime.signal()
        self._looking = self._closed = False
        self._begun = f"{runtime.now():.3f}"
        self.listeners = 0

    @property
    def full(self) -> bool:
        """Whether nobody else can listen."""
        return self._closed or self.listeners >= MOST_LISTENERS

    def close(self) -> None:
        """End all listening."""
        self._closed = True
        self._news.fire()

    async def listen(self, last: str = "") -> AsyncIterator[bytes]:
        """Server-sent events; `last` is the id of the last one that this listener has heard, if any."""
        if self.full:
            return  # others came between the question and this
        until = self._runtime.now() + LONGEST_SECONDS
        self.listeners += 1
        try:
            if not self._looking:
                self._looking = True
                self._runtime.spawn(self._look(), "page")
            seen = self._version(last)
            yield b"retry: 1000\n\n"
            # What is being painted is told when it is complete.
            while not self._closed and (now := self._runtime.now()) < until:
                news = self._painter.pieces.since(seen)
                if news is not None:
                    seen = self._painter.pieces.version
                    yield b"id: %s/%d\ndata: %s\n\n" % (self._begun.encode(), seen, news)
                elif not await self._news.wait(min(until, now + BEAT_SECONDS)):
                    yield b": still here\n\n"
        finally:
            self.listeners -= 1

    def _version(self, last: str) -> int:
        """What this extender has told them; NOTHING where it was another, or before a restart."""
        begun, _, version = last.partition("/")
        known = begun == self._begun and version.isascii() and version.isdecimal() and len(version) < 16
        return int(version) if known else NOTHING

    async def _look(self) -> None:
        try:
            while self.listeners and not self._closed:
                version = self._painter.pieces.version
                took = await self._paint()
                if self._painter.pieces.version != version:
                    self._news.fire()
                pause = min(max(LOOK_SECONDS, took * _SHARE), _MOST_SECONDS)
                await self._runtime.sleep_until(self._runtime.now() + pause)
        finally:
            self._looking = False

    async def _paint(self) -> float:
        """How many seconds of work it was: between its slices verbs are answered."""
        took, began = 0.0, self._runtime.now()
        for _ in self._painter.paint(began):
            took += self._runtime.now() - began
            await self._runtime.sleep_until(began)
            began = self._runtime.now()
        return took + self._runtime.now() - began
