"""Who waits, and who is tried next.

Stands for Kueue's queueing strategies and kube-scheduler's queue. Rules, by discipline:

    best-effort   by priority, then age; who does not fit is passed over. Gangs start whole or not at all
    strict        the same, but nobody of a queue passes the first of it
    pod-by-pod    as best-effort, but the pods of a gang are placed one by one and hold what they have got

Law: who was refused is not tried again before something has been released: placements only make room smaller.
"""

import enum
import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from gpuyard.groups import queues
from gpuyard_replay.jobs import Job
from gpuyard_replay.traces import TracePod


class Discipline(enum.StrEnum):
    """See the table above."""

    BEST_EFFORT = "best-effort"
    STRICT = "strict"
    POD_BY_POD = "pod-by-pod"


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """Pods of one job that are placed together or not at all; `turn` orders those who wait."""

    turn: tuple[int, int]
    number: int
    """Of the job."""
    place: int
    """Among those of the job."""
    job: Job = field(compare=False)
    pods: tuple[TracePod, ...] = field(compare=False)

    @property
    def gpu_milli(self) -> int:
        return sum(pod.gpu_milli for pod in self.pods)


def entries(discipline: Discipline, number: int, job: Job) -> Iterator[Entry]:
    """What stands in the line for a job."""
    turn = queues.turn(job.membership.priority, job.arrives)
    if discipline is Discipline.POD_BY_POD:
        for place, pod in enumerate(job.pods):
            yield Entry(turn, number, place, job, (pod,))
    else:
        yield Entry(turn, number, 0, job, job.pods)


_Key = tuple[object, ...]


class Line:
    """Everyone who waits. Those who can only be refused together are kept together, and only the first is tried."""

    def __init__(self, discipline: Discipline) -> None:
        self._discipline = discipline
        self._alike: dict[_Key, list[Entry]] = {}
        self._refused = set[_Key]()
        self.gpu_milli = 0
        """The GPU thousandths that all who wait ask for."""

    def join(self, entry: Entry) -> None:
        """It waits from now on."""
        key = self._key(entry)
        alike = self._alike.setdefault(key, [])
        heapq.heappush(alike, entry)
        if alike[0] is entry:
            self._refused.discard(key)
        self.gpu_milli += entry.gpu_milli

    def released(self) -> None:
        """Somebody has gone: everyone may be tried again."""
        self._refused.clear()

    def serve(self, start: Callable[[Entry], bool]) -> None:
        """Try whoever may be tried, in order; who starts waits no more."""
        heads = [(alike[0], key) for key, alike in self._alike.items() if key not in self._refused]
        heapq.heapify(heads)
        while heads:
            entry, key = heapq.heappop(heads)
            if not start(entry):
                self._refused.add(key)
            elif alike := self._without_first(key):
                heapq.heappush(heads, (alike[0], key))

    def _without_first(self, key: _Key) -> list[Entry]:
        alike = self._alike[key]
        gone = heapq.heappop(alike)
        self.gpu_milli -= gone.gpu_milli
        if not alike:
            del self._alike[key]
        return alike

    def _key(self, entry: Entry) -> _Key:
        queue = entry.job.membership.queue
        if self._discipline is Discipline.STRICT:
            return (queue,)
        return queue, tuple(pod.demand for pod in entry.pods)
