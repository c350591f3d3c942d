"""Jobs: what starts together and ends together, a pod or a gang; when each comes, and how long it runs.

Law: from the same seed come the same jobs. What is drawn, and from which distribution, is said in `Durations`.
"""

import dataclasses
import itertools
import math
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from gpuyard_replay.columns import Membership
from gpuyard_replay.traces import TracePod

_NINETIETH: Final = 1.2815515655446004
"""Of the standard normal distribution."""
_CUT: Final = 3


@dataclass(frozen=True, slots=True)
class Job:
    """Pods that start together. It comes at `arrives` and runs for `runs` seconds."""

    name: str
    pods: tuple[TracePod, ...]
    arrives: int = 0
    runs: int | None = None

    @property
    def membership(self) -> Membership:
        return self.pods[0].membership

    @property
    def gpu_milli(self) -> int:
        return sum(pod.gpu_milli for pod in self.pods)

    @property
    def milli(self) -> int:
        return self.gpu_milli


@dataclass(frozen=True, slots=True)
class Durations:
    """A log-normal distribution of seconds, by its median and its 90th percentile; cut at three times the latter.

    The default is what the pods of the openb trace have that have both times. The cut keeps one pod in some thousands
    from being most of the load.
    """

    median: int = 616
    ninetieth: int = 7764

    def draw(self, generator: random.Random) -> int:
        """At least a second."""
        spread = math.log(self.ninetieth / self.median) / _NINETIETH
        found = round(generator.lognormvariate(math.log(self.median), spread))
        return max(1, min(found, _CUT * self.ninetieth))


def of_pods(pods: Iterable[TracePod]) -> list[Job]:
    """One job a gang, and one for each pod without. A gang comes when the last of its pods has come."""
    gangs: defaultdict[tuple[str, str], list[TracePod]] = defaultdict(list)
    for pod in pods:
        gangs[(pod.membership.gang, "" if pod.membership.gang else pod.name)].append(pod)
    return [_job(gang or name, tuple(members)) for (gang, name), members in gangs.items()]


def _job(name: str, pods: tuple[TracePod, ...]) -> Job:
    lives = [pod.lifetime for pod in pods if pod.lifetime]
    spans = [life.runs for life in lives if life.runs is not None]
    return Job(name, pods, max((life.created for life in lives), default=0), max(spans, default=None))


def with_durations(jobs: Iterable[Job], drawn: Durations, seed: int, *, anew: bool) -> list[Job]:
    """Every job runs for as long as the trace says, at least a second; where it does not, or `anew`, it is drawn."""
    generator = random.Random(f"{seed} durations")
    found = []
    for job in jobs:
        # Drawn for all, so that what one job gets does not depend on what is known of those before it.
        span = drawn.draw(generator)
        runs = span if anew or job.runs is None else max(1, job.runs)
        found.append(dataclasses.replace(job, runs=runs))
    return found


def arriving(jobs: Sequence[Job], capacity: int, load: int, seed: int) -> list[Job]:
    """The jobs in this order at random moments (a Poisson process), which ask for `load` percent of `capacity`.

    That is: GPUs times seconds asked for, over all GPUs times the seconds in which jobs come.
    """
    generator = random.Random(f"{seed} arrivals")
    asked = sum(job.gpu_milli * (job.runs or 0) for job in jobs)
    gaps = [generator.expovariate(1) for _ in jobs]
    scale = 100 * asked / (capacity * load * sum(gaps)) if gaps else 0
    moments = itertools.accumulate(gaps)
    return [
        dataclasses.replace(job, name=f"{job.name}#{number}", arrives=round(scale * moment))
        for number, (job, moment) in enumerate(zip(jobs, moments, strict=True))
    ]
