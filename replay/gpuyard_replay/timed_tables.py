"""Runs over time as text and pictures: a table for people, CSV of every sample for programs, lines over hours."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from gpuyard_replay import plot
from gpuyard_replay.history import History, Sample
from gpuyard_replay.measures import Measures, measured
from gpuyard_replay.plot import Panel
from gpuyard_replay.tables import aligned

_HOUR: Final = 3600
_HEADS: Final = (
    "policy", "discipline", "wait p50", "p90", "p99", "makespan", "in use", "GPU-hours used", "held", "stranded",
    "lost", "fairness", "not started",
)  # fmt: skip

Runs = Mapping[tuple[str, str], History]
"""By policy and discipline."""


def table(runs: Runs) -> str:
    """One line a run; what the columns are, `measures` says."""
    return aligned([_HEADS, *((*key, *_cells(measured(history))) for key, history in runs.items())])


def _cells(found: Measures) -> Iterator[str]:
    yield from map(span, (found.wait_p50, found.wait_p90, found.wait_p99, found.makespan))
    yield f"{100 * found.utilisation:.1f} %"
    yield from (f"{hours:.0f}" for hours in (found.used_hours, found.held_hours, found.stranded_hours))
    yield f"{100 * found.lost:.1f} %"
    yield f"{found.fairness:.3f}"
    yield f"{found.never_started} of {found.jobs}" + (f", {found.refused} refused" if found.refused else "")


def span(seconds: int) -> str:
    """`45s`, `12m`, `3.4h`, `2.1d`."""
    for length, unit in ((24 * _HOUR, "d"), (_HOUR, "h")):
        if seconds >= 2 * length:
            return f"{seconds / length:.1f}{unit}"
    return f"{seconds // 60}m" if seconds >= 120 else f"{seconds}s"


def as_csv(runs: Runs) -> str:
    """Columns: policy, discipline, second, then thousandths of GPUs running, held, waited for and lost."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["policy", "discipline", "second", "running", "held", "waiting", "lost"])
    for key, history in runs.items():
        for s in history.samples:
            writer.writerow([*key, s.moment, s.running, s.held, s.waiting, s.lost])
    return text.getvalue()


def svg(title: str, runs: Runs) -> str:
    """What runs, what is lost and what is waited for, over hours, in percent of all GPUs."""
    panels = [
        _panel("GPUs in use, %", runs, lambda sample: sample.running),
        _panel("GPUs lost to fragmentation, %", runs, lambda sample: sample.lost),
        _panel("GPUs waited for, %", runs, lambda sample: sample.waiting),
    ]
    return plot.picture(title, "hours", panels)


def _panel(title: str, runs: Runs, value: Callable[[Sample], int]) -> Panel:
    return Panel(title, {", ".join(key): _line(history, value) for key, history in runs.items()})


def _line(history: History, value: Callable[[Sample], int]) -> Sequence[tuple[float, float]]:
    first = history.samples[0].moment if history.samples else 0
    return [((s.moment - first) / _HOUR, 100 * value(s) / history.capacity) for s in history.samples]
