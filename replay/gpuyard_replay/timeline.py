"""Jobs come, wait, run and go: what a cluster does over time under one discipline.

Stands for a scheduler with queues on a clock of its own. Law: at one moment first everything that ends there ends,
then everyone who comes there joins the line, then the line is served. A job runs once all its pods have a place;
pods that have one before that hold it idle. A job that would not fit the empty cluster, or its queue's quota, is
refused when it comes. Nobody is preempted.
"""

import heapq
from collections.abc import Callable, Sequence
from typing import Final, Generic

from gpuyard import vocabulary
from gpuyard.groups import gangs, queues
from gpuyard.groups.queues import Queue
from gpuyard_replay.history import History, Outcome, Rules, Sample
from gpuyard_replay.jobs import Job
from gpuyard_replay.places import Places, S
from gpuyard_replay.queueing import Entry, Line, entries

Progress = Callable[[int, int], None]
"""Is told how many jobs of how many have come."""
_EVERY: Final = 500
_SAMPLES: Final = 200
"""About so many while jobs come."""


class Timeline(Generic[S]):
    """One run; `jobs` have durations, and come in this order where they come at one moment."""

    def __init__(self, jobs: Sequence[Job], places: Places[S], rules: Rules) -> None:
        self._jobs, self._places, self._rules = jobs, places, rules
        self._order = sorted(range(len(jobs)), key=lambda number: jobs[number].arrives)
        self._line = Line(rules.discipline)
        self._queues = {name: Queue(name, {vocabulary.GPU: quota}) for name, quota in rules.quotas.items()}
        self._seats: dict[int, list[S]] = {}
        self._ends: list[tuple[int, int]] = []
        self._started: dict[int, int] = {}
        self._refused = self._impossible()
        self._now = self._running = self._held = self._held_area = self._stranded = 0
        self._samples: list[Sample] = []

    def run(self, progress: Progress = lambda _done, _all: None) -> History:
        """Until nothing can happen any more."""
        arrivals = [number for number in self._order if number not in self._refused]
        moments = [self._jobs[number].arrives for number in arrivals]
        step = max(1, (moments[-1] - moments[0]) // _SAMPLES) if moments else 1
        done = 0
        while done < len(arrivals) or self._ends:
            coming = moments[done] if done < len(arrivals) else self._ends[0][0]
            self._advance(min(coming, self._ends[0][0]) if self._ends else coming)
            while self._ends and self._ends[0][0] == self._now:
                self._end(heapq.heappop(self._ends)[1])
            while done < len(arrivals) and moments[done] == self._now:
                self._join(arrivals[done])
                done += 1
                if done % _EVERY == 0:
                    progress(done, len(arrivals))
            self._line.serve(self._start)
            if not self._samples or self._now >= self._samples[-1].moment + step:
                self._samples.append(self._sample())
        progress(done, len(arrivals))
        outcomes = [
            Outcome(job, self._started.get(number), number in self._refused)
            for number, job in enumerate(self._jobs)
        ]
        return History(self._places.capacity, outcomes, self._samples, self._held_area, self._stranded)

    def _impossible(self) -> set[int]:
        """The jobs that the empty cluster, or an empty queue, cannot take."""
        known: dict[object, bool] = {}
        found = set()
        for number, job in enumerate(self._jobs):
            key = (job.membership.queue, tuple(pod.demand for pod in job.pods))
            if key not in known:
                known[key] = self._admits(job.membership.queue, job.gpu_milli) and self._fits(job)
            if not known[key]:
                found.add(number)
        return found

    def _fits(self, job: Job) -> bool:
        seats = gangs.all_or_none(job.pods, self._places.take, self._places.leave)
        for seat in seats or ():
            self._places.leave(seat)
        return seats is not None

    def _admits(self, name: str, gpu_milli: int) -> bool:
        queue = self._queues.get(name)
        return queue is None or queues.admits(queue, {vocabulary.GPU: gpu_milli}) is None

    def _advance(self, moment: int) -> None:
        passed = moment - self._now
        free = self._places.capacity - self._running - self._held
        self._held_area += passed * self._held
        self._stranded += passed * min(free, self._line.gpu_milli)
        self._now = moment

    def _join(self, number: int) -> None:
        for entry in entries(self._rules.discipline, number, self._jobs[number]):
            self._line.join(entry)

    def _start(self, entry: Entry) -> bool:
        """Whether the pods have a place now; with the last ones the job runs."""
        queue = entry.job.membership.queue
        if not self._admits(queue, entry.gpu_milli):
            return False
        found = gangs.all_or_none(entry.pods, self._places.take, self._places.leave)
        if found is None:
            return False
        if queue in self._queues:
            self._queues[queue] = self._queues[queue].with_usage({vocabulary.GPU: entry.gpu_milli})
        self._held += entry.gpu_milli
        seats = self._seats.setdefault(entry.number, [])
        seats += found
        if len(seats) == len(entry.job.pods):
            self._held -= entry.job.gpu_milli
            self._running += entry.job.gpu_milli
            self._started[entry.number] = self._now
            heapq.heappush(self._ends, (self._now + (entry.job.runs or 0), entry.number))
        return True

    def _end(self, number: int) -> None:
        job, queue = self._jobs[number], self._jobs[number].membership.queue
        for seat in self._seats.pop(number):
            self._places.leave(seat)
        if queue in self._queues:
            self._queues[queue] = self._queues[queue].without_usage({vocabulary.GPU: job.gpu_milli})
        self._running -= job.gpu_milli
        self._line.released()

    def _sample(self) -> Sample:
        waiting, lost = self._line.gpu_milli, self._places.lost()
        return Sample(self._now, self._running, self._held, waiting, lost)
