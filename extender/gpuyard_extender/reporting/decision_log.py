"""Decisions as JSON lines, in a file that does not grow for ever, or on standard output.

Stands for the log backend of the API server's audit. Laws: nobody waits for the disk but a thread of its own; what it
cannot keep up with, or cannot write, is lost and counted; one warning says so, until writing works again.
"""

import logging
import os
import queue
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from gpuyard_extender.reporting.decisions import Decision
from gpuyard_extender.reporting.packing import packed

log = logging.getLogger("gpuyard.extender")

FILE_BYTES: Final = 64 * 1024 * 1024
"""Then the file becomes FILE.1, in place of the one that was there: 128 MiB in all."""
_WAITING: Final = 10_000
"""Decisions that wait to be written: some seconds of the busiest scheduler."""
_BATCH: Final = 500
_GOODBYE_SECONDS: Final = 2.0


class Sink(Protocol):
    """Where bytes go."""

    def write(self, content: bytes) -> None:
        """All of them, in whole lines; OSError when they cannot be written."""

    def close(self) -> None:
        """Nothing more comes."""


class RotatingFile:
    """A file that is appended to. OSError when it cannot be opened."""

    def __init__(self, path: Path, most: int = FILE_BYTES) -> None:
        self._path, self._most = path, most
        self._torn = False
        self._open()

    def write(self, content: bytes) -> None:
        if self._size and self._size + len(content) > self._most:
            self._file.close()
            self._path.replace(f"{self._path}.1")
            self._open()
        # After a failure in the middle of a line the next one starts anew.
        _write_all(self._file.write, b"\n" + content if self._torn else content, self._count)
        self._torn = False

    def close(self) -> None:
        self._file.close()

    def _open(self) -> None:
        self._file = self._path.open("ab", buffering=0)
        self._size, self._torn = os.fstat(self._file.fileno()).st_size, False

    def _count(self, written: int) -> None:
        self._size += written
        self._torn = True


class Stdout:
    """Standard output, which somebody else collects and bounds."""

    def write(self, content: bytes) -> None:
        _write_all(lambda rest: os.write(sys.stdout.fileno(), rest), content, lambda _: None)

    def close(self) -> None:
        """It is not ours to close."""


def sink(target: str) -> Sink:
    """What `--decisions` names: a file, or - for standard output. OSError when it cannot be opened."""
    return Stdout() if target == "-" else RotatingFile(Path(target))


class DecisionLog:
    """`decisions.Book` over a sink."""

    def __init__(self, target: Sink) -> None:
        self._sink = target
        self._waiting = queue.Queue[Decision | None](_WAITING)
        self._overflowed = self._failed = self._written = 0  # each is counted by one thread alone
        self._warned = False
        self._thread = threading.Thread(target=self._run, name="decisions", daemon=True)
        self._thread.start()

    @property
    def written(self) -> int:
        return self._written

    @property
    def lost(self) -> int:
        return self._overflowed + self._failed

    def note(self, decision: Decision) -> None:
        try:
            self._waiting.put_nowait(decision)
        except queue.Full:
            self._overflowed += 1

    def close(self) -> None:
        """Write what waits, if that does not take long."""
        with suppress(queue.Full):
            self._waiting.put(None, timeout=_GOODBYE_SECONDS)
        self._thread.join(_GOODBYE_SECONDS)

    def _run(self) -> None:
        batch = self._batch()
        while decisions := [decision for decision in batch if decision is not None]:
            self._write(decisions)
            if batch[-1] is None:
                break
            batch = self._batch()
        self._sink.close()

    def _batch(self) -> list[Decision | None]:
        """What waits, up to a None: one at least."""
        batch = [self._waiting.get()]
        while batch[-1] is not None and len(batch) < _BATCH and not self._waiting.empty():
            batch.append(self._waiting.get())
        return batch

    def _write(self, batch: list[Decision]) -> None:
        try:
            self._sink.write(b"".join(packed(decision.to_json()) + b"\n" for decision in batch))
        except OSError as error:
            self._failed += len(batch)
            if not self._warned:
                log.warning("decisions cannot be written and are lost: %s", error)
            self._warned = True
        else:
            self._written += len(batch)
            self._warned = False


def _write_all(write: Callable[[bytes], int | None], content: bytes, count: Callable[[int], None]) -> None:
    """Unbuffered files may take a part only."""
    while content:
        done = write(content) or 0
        count(done)
        content = content[done:]
