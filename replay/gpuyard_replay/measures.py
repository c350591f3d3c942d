"""What operators ask of a run: how long jobs waited, what of the GPUs did work, and whether queues were served alike.

Definitions:
- A job waits from when it came until it started; one that never started, until the end of the run. Percentiles are
  by nearest rank, over all jobs that were not refused.
- Utilisation is what ran, of all GPUs, in the second half of the time in which jobs came: in the first the cluster
  fills. Makespan is from the first arrival to the last end.
- Held GPU-hours are those of pods that waited for the rest of their gang; stranded ones were free while at least as
  much was waited for.
- A queue's pace is the part of the GPU-hours in the system that ran: run / (waited + run). Fairness is Jain's index
  over the paces of all queues: 1 when all are alike, 1/n when only one of n is served.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gpuyard.policies.workload import WHOLE
from gpuyard_replay.history import History, Outcome

_HOUR: Final = 3600 * WHOLE
"""One GPU-hour as an area."""


@dataclass(frozen=True, slots=True)
class Measures:
    """Seconds, GPU-hours and parts of one; `lost` is the mean over time of what fragmentation takes of all GPUs."""

    jobs: int
    refused: int
    never_started: int
    wait_p50: int
    wait_p90: int
    wait_p99: int
    makespan: int
    used_hours: float
    held_hours: float
    stranded_hours: float
    utilisation: float
    lost: float
    fairness: float


def measured(history: History) -> Measures:
    """All of it."""
    found = [outcome for outcome in history.outcomes if not outcome.refused]
    comings = [outcome.job.arrives for outcome in found] or [0]
    first, last = min(comings), max(comings)
    end = max([last, *(_end(outcome) for outcome in found)])
    waits = sorted(_wait(outcome, end) for outcome in found) or [0]
    ran = sum(_area(outcome, first, end) for outcome in found)
    half = first + (last - first) // 2
    window = sum(_area(outcome, half, last) for outcome in found)
    return Measures(
        jobs=len(history.outcomes),
        refused=len(history.outcomes) - len(found),
        never_started=sum(outcome.started is None for outcome in found),
        wait_p50=percentile(waits, 50),
        wait_p90=percentile(waits, 90),
        wait_p99=percentile(waits, 99),
        makespan=end - first,
        used_hours=ran / _HOUR,
        held_hours=history.held / _HOUR,
        stranded_hours=history.stranded / _HOUR,
        utilisation=window / (history.capacity * max(1, last - half)),
        lost=_lost(history),
        fairness=jain(_paces(found, end)),
    )


def percentile(ordered: Sequence[int], part: int) -> int:
    """The least value that at least `part` percent of the values do not exceed."""
    return ordered[max(0, -(-part * len(ordered) // 100) - 1)]


def jain(values: Sequence[float]) -> float:
    """(sum of x)^2 / (n * sum of x^2); 1 where nothing can be unfair."""
    squares = len(values) * sum(value * value for value in values)
    return sum(values) ** 2 / squares if squares else 1.0


def _end(outcome: Outcome) -> int:
    return 0 if outcome.started is None else outcome.started + (outcome.job.runs or 0)


def _wait(outcome: Outcome, end: int) -> int:
    return (end if outcome.started is None else outcome.started) - outcome.job.arrives


def _area(outcome: Outcome, first: int, last: int) -> int:
    """What the job ran between two moments."""
    if outcome.started is None:
        return 0
    return outcome.job.gpu_milli * max(0, min(_end(outcome), last) - max(outcome.started, first))


def _paces(outcomes: Sequence[Outcome], end: int) -> list[float]:
    ran, stayed = defaultdict[str, int](int), defaultdict[str, int](int)
    for outcome in outcomes:
        queue, area = outcome.job.membership.queue, _area(outcome, 0, end)
        ran[queue] += area
        stayed[queue] += area + outcome.job.gpu_milli * _wait(outcome, end)
    return [ran[queue] / total for queue, total in sorted(stayed.items()) if total]


def _lost(history: History) -> float:
    """Each sample stands until the next."""
    samples = history.samples
    spans = [after.moment - before.moment for before, after in zip(samples, samples[1:], strict=False)]
    area = sum(span * sample.lost for span, sample in zip(spans, samples, strict=False))
    return area / (history.capacity * sum(spans)) if sum(spans) else 0.0
