"""The state of one queue: what its groups hold, and who of them waits, in order.

Stands for the ClusterQueue in Kueue's cache. Law: what is used is the sum of what its groups hold.
"""

from bisect import bisect_left, insort
from collections import Counter
from dataclasses import dataclass, field, replace

from gpuyard.groups import queues
from gpuyard.groups.queues import Queue
from gpuyard.writes import JSON
from gpuyard_operator.objects.groups import Key
from gpuyard_operator.queues.queueing import LOOK, Line
from gpuyard_operator.queues.workloads import Workload

Ranks = list[tuple[int, int, Key]]


@dataclass(slots=True)
class QueueState:
    """`queue` is None where only groups know of it. Those in `firm` are waited for, those in `others` overtaken."""

    queue: Queue | None = None
    groups: dict[Key, Workload] = field(default_factory=dict)
    firm: Ranks = field(default_factory=list)
    others: Ranks = field(default_factory=list)
    _used: Counter[str] = field(default_factory=Counter)

    def put(self, found: Workload, now: float) -> None:
        """Enter a group that is not there yet."""
        self.groups[found.key] = found
        self._used.update(found.holds)
        if found.waiting:
            ever = self.queue is not None and queues.admits(self.queue, found.least) is None
            insort(self.firm if ever and now < found.firm_until else self.others, found.rank)

    def take(self, key: Key) -> None:
        """Strike a group out."""
        found = self.groups.pop(key)
        self._used.subtract(found.holds)
        for ranks in (self.firm, self.others):
            at = bisect_left(ranks, found.rank)
            if ranks[at : at + 1] == [found.rank]:
                del ranks[at]

    def expire(self, now: float) -> set[Key]:
        """Those of the first who are waited for no longer."""
        late = [rank for rank in self.firm[:LOOK] if self.groups[rank[-1]].firm_until <= now]
        for rank in late:
            self.firm.remove(rank)
            insort(self.others, rank)
        return {key for *_, key in late}

    def line(self) -> Line | None:
        """What is to be judged; None where nobody waits, or there is no queue to wait for."""
        if self.queue is None or not (self.firm or self.others):
            return None
        first = tuple(self.groups[key] for *_, key in self.firm[:LOOK])
        used = {name: self._used[name] for name in self.queue.quota if self._used[name]}
        return Line(replace(self.queue, used=used), first)

    def is_overtaken(self, found: Workload) -> bool:
        """Whether a group of this queue waits, and nobody waits for it."""
        at = bisect_left(self.others, found.rank)
        return self.others[at : at + 1] == [found.rank]

    def waiting(self) -> tuple[Key, ...]:
        """Who waits, in order; those that are overtaken last."""
        return tuple(key for *_, key in (*self.firm, *self.others))

    def status(self) -> JSON:
        """The status of the Queue object."""
        quota = self.queue.quota if self.queue else ()
        return {
            "used": {name: queues.text(name, self._used[name]) for name in sorted(quota)},
            "admitted": sum(bool(found.holds) for found in self.groups.values()),
            "pending": len(self.firm) + len(self.others),
        }
