"""What is known of a run once it is over, as values. GPUs are in thousandths, time in seconds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gpuyard_replay.jobs import Job
from gpuyard_replay.queueing import Discipline


@dataclass(frozen=True, slots=True)
class Rules:
    """`quotas`: GPU thousandths by queue; a queue without one is not limited."""

    discipline: Discipline = Discipline.BEST_EFFORT
    quotas: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sample:
    """The cluster at one moment, in GPU thousandths: running, held by who does not run yet, waited for, lost."""

    moment: int
    running: int
    held: int
    waiting: int
    lost: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a job; `started` None: it never started. `refused`: it never could."""

    job: Job
    started: int | None
    refused: bool = False


@dataclass(frozen=True, slots=True)
class History:
    """Everything that is measured. Areas are thousandths of GPUs times seconds."""

    capacity: int
    outcomes: Sequence[Outcome]
    samples: Sequence[Sample]
    held: int
    """By pods of jobs that did not run yet."""
    stranded: int
    """Free while at least as much was waited for."""
