"""Policies times traces times seeds, on all cores, and a file of results that a later run goes on with.

Law: a result is one line, written whole as soon as it is known; what the file holds is never done again.
"""

import csv
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpuyard.policies import registry
from gpuyard_replay import curve, sources
from gpuyard_replay.curve import Point
from gpuyard_replay.replaying import replay
from gpuyard_replay.sources import Source
from gpuyard_replay.traces import InvalidTraceError

_KEYS: Final = ("trace", "until", "policy", "seed")
_VALUES: Final = "asked:in use:lost:ratio ..."


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """Which run a result is of."""

    trace: str
    until: int
    policy: str
    seed: int


@dataclass(frozen=True, slots=True)
class Task:
    """One run."""

    source: Source
    policy: str
    seed: int

    @property
    def key(self) -> Key:
        return Key(self.source.name, self.source.until, self.policy, self.seed)


Curves = Mapping[Key, Sequence[Point]]


def sweep(tasks: Sequence[Task], results: Path, jobs: int) -> Iterator[Key]:
    """Run what `results` does not hold yet, adding a line each; yields the key of each run that ends."""
    _mend(results)
    known = read(results) if results.exists() else {}
    missing = [task for task in tasks if task.key not in known]
    with ProcessPoolExecutor(jobs or os.cpu_count()) as pool:
        yield from _gathered(pool, missing, results)


def _gathered(pool: Executor, missing: Sequence[Task], results: Path) -> Iterator[Key]:
    running = {pool.submit(run, task): task for task in missing}
    try:
        for done in as_completed(running):
            _add(results, running[done].key, done.result())
            yield running[done].key
    finally:
        for future in running:
            future.cancel()


def run(task: Task) -> Sequence[Point]:
    """The curve of one run."""
    scene = sources.drawn(task.source, task.seed)
    return curve.points(replay(scene, registry.named(task.policy)).record)


def read(results: Path) -> Curves:
    """What a file of results holds."""
    found: dict[Key, Sequence[Point]] = {}
    try:
        with results.open(newline="") as file:
            for line in csv.DictReader(file):
                key = Key(line["trace"], int(line["until"]), line["policy"], int(line["seed"]))
                found[key] = [_point(text) for text in line[_VALUES].split(" ")]
    except (OSError, KeyError, ValueError, AttributeError) as error:
        raise InvalidTraceError(results, f"is no file of results: {error!r}", "name another file") from error
    return found


def _mend(results: Path) -> None:
    """Take off a last line that an end of the process has cut in two: its run is done again."""
    if results.exists():
        content = results.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if whole != content:
            results.write_bytes(whole)


def _add(results: Path, key: Key, points: Sequence[Point]) -> None:
    values = " ".join(
        f"{p.asked}:{p.allocated:.4f}:{p.fragmentation:.4f}:{p.fragmentation_ratio:.4f}" for p in points
    )
    try:
        with results.open("a", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if not file.tell():
                writer.writerow([*_KEYS, _VALUES])
            writer.writerow([key.trace, key.until, key.policy, key.seed, values])
    except OSError as error:
        problem = f"cannot be written: {error.strerror}"
        raise InvalidTraceError(results, problem, "make room for it, or name another file") from error


def _point(text: str) -> Point:
    asked, allocated, lost, ratio = text.split(":")
    return Point(int(asked), float(allocated), float(lost), float(ratio))
