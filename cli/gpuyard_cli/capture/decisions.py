"""The pods that the extender's log of decisions (docs/decisions.md) tells of, as a capture records pods.

Laws: what the cluster itself says of a pod is better, so the log speaks only for pods that are gone; a line that
cannot be read is noted and left out. When a pod ended is in no log: at the latest when another was bound to one of
its devices, else nobody knows.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from gpuyard.hardware.gpus import WHOLE
from gpuyard.pods.amounts import CPU, MEMORY, MIB
from gpuyard.pods.limits import Limits
from gpuyard.pods.requests import is_device_resource
from gpuyard.pods.wishes import Wishes
from gpuyard_cli.capture.pods import PodRecord
from gpuyard_cli.capture.recording import Recording
from gpuyard_cli.imported.notes import Notes
from gpuyard_cli.inputs import InvalidInputError

_VERSION: Final = 1
_LATEST: Final = 10**11
"""Seconds since the epoch, in the year 5138."""
_UNREADABLE: Final = "lines of the log cannot be read and are left out"


@dataclass(frozen=True, slots=True)
class _Entry:
    """One line, as far as a trace needs it."""

    time: int
    uid: str
    pod: tuple[str, str]
    """Namespace and name."""
    asks: Mapping[str, int]
    wishes: Wishes
    node: str
    """Where it was bound by this, if it was."""
    devices: frozenset[str]


@dataclass(slots=True)
class _Log:
    """What is known so far, line by line."""

    pods: dict[str, PodRecord] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)
    """Which pod was the last one to get a device, by id."""

    def take(self, entry: _Entry) -> None:
        pod = self.pods.get(entry.uid) or _seen(entry)
        if entry.node:
            pod = replace(pod, node=entry.node, scheduled=entry.time)
            for uid in {self.owners.get(device, entry.uid) for device in entry.devices} - {entry.uid}:
                before = self.pods[uid]
                self.pods[uid] = before if before.ended else replace(before, ended=entry.time)
            self.owners |= dict.fromkeys(entry.devices, entry.uid)
        self.pods[entry.uid] = pod


def add(recording: Recording, path: Path) -> None:
    """Add the pods of a log to those that are there. InvalidInputError where it cannot be read."""
    log = _Log()
    for entry in _entries(_lines(path), recording.notes):
        log.take(entry)
    recording.pods |= {uid: pod for uid, pod in log.pods.items() if uid not in recording.pods}


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """Of the file, after those of the file before it; with their places."""
    before = path.with_name(f"{path.name}.1")
    try:
        for part in [before] * before.is_file() + [path]:
            with part.open(encoding="utf-8", errors="replace") as file:
                yield from ((f"{part.name}:{number}", line) for number, line in enumerate(file, 1))
    except OSError as error:
        remedy = "name a file that gpuyard-extender --decisions has written"
        raise InvalidInputError(path, "", error.strerror or str(error), remedy) from error


def _entries(lines: Iterable[tuple[str, str]], notes: Notes) -> Iterator[_Entry]:
    for place, line in lines:
        # A line that was cut short by a full disk is followed by an empty rest.
        if not line.strip():
            continue
        try:
            yield _entry(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            notes.add(_UNREADABLE, place)


def _entry(line: Any) -> _Entry:
    if line["v"] != _VERSION or not 0 <= line["time"] < _LATEST:
        raise ValueError(f"version {line['v']}, time {line['time']}")
    namespace, _, name = line["pod"].partition("/")
    bound = line["verb"] == "bind" and not line.get("error")
    return _Entry(
        int(line["time"]),
        str(line["uid"]),
        (namespace, name),
        {str(key): max(0, int(amount)) for key, amount in line["asks"].items()},
        _wishes(line.get("wishes", {})),
        str(line["node"]) if bound else "",
        frozenset(map(str, line.get("devices", ()))),
    )


def _wishes(found: Any) -> Wishes:
    milli, mib = (max(0, int(found.get(name, 0))) for name in ("shareMilli", "shareMiB"))
    limits = Limits(min(milli, WHOLE), mib)
    return Wishes(models=tuple(map(str, found.get("models", ()))), limits=limits)


def _seen(entry: _Entry) -> PodRecord:
    """A pod of which this is the first line."""
    namespace, name = entry.pod
    return PodRecord(
        namespace=namespace,
        name=name,
        cpu=entry.asks.get(CPU, 0),
        memory=-(-entry.asks.get(MEMORY, 0) // MIB),
        devices={key: amount for key, amount in entry.asks.items() if is_device_resource(key) and amount},
        wishes=entry.wishes,
        product="",
        node="",
        gang="",
        priority=0,
        qos="",
        phase="",
        created=entry.time,
        scheduled=None,
        ended=None,
        gone=True,
    )
