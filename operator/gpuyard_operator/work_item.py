"""The work on one pod group: what is kept of it between two looks, none of which is needed.

Stands for the entry of one object in controller-runtime's work queue.
"""

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from itertools import takewhile

from gpuyard.groups.plans import Unready
from gpuyard.writes import JSON
from gpuyard_kube.recording import Told
from gpuyard_kube.runtime import Signal
from gpuyard_operator.deciding.asking import TRIES, Answered
from gpuyard_operator.deciding.commit import Seen
from gpuyard_operator.objects.groups import Key
from gpuyard_operator.objects.members import node_of

SPENT = Unready("the places reserved last were given up")
"""What is left of an answer whose places were recorded."""


@dataclass(slots=True)
class WorkItem:
    key: Key
    signal: Signal
    dirty: bool = False
    wake_at: float | None = None
    answers: deque[Answered] = field(default_factory=lambda: deque(maxlen=2 * TRIES))
    refused: set[str] = field(default_factory=set)
    said: str = ""
    seen: Seen = field(default_factory=dict)
    looked: bool = False
    leaving: Seen = field(default_factory=dict)
    """The same of pods that have been told to go."""
    told: tuple[str, float] = ("", 0.0)
    """What the condition Scheduled says, and since when."""
    news: Told | None = None
    """The last reason of its group that was told to people, or is about to be."""

    def wake(self) -> None:
        """There is something new to look at."""
        self.dirty = True
        self.signal.fire()

    def see(self, pods: Collection[JSON], reservation: JSON | None, now: float) -> None:
        """Remember, by the operator's own clock, since when pods are on nodes, or leave, and places are held."""
        seen = _since(self.seen, filter(node_of, pods), now)
        if reservation is not None:
            expires = str((reservation.get("spec") or {}).get("expires"))
            seen[expires] = self.seen.get(expires, now if self.looked else 0.0)
        self.seen, self.looked = seen, True
        self.leaving = _since(self.leaving, (p for p in pods if p["metadata"].get("deletionTimestamp")), now)

    def hear(self, message: str, now: float) -> None:
        """Remember since when people are told this."""
        if message != self.told[0]:
            self.told = message, now

    def spend(self) -> None:
        """Places that were recorded are not recorded again, nor asked for again at once, should they be lost."""
        if not self.answers or self.answers[-1].answer is SPENT:
            return
        last = self.answers.pop()
        before = [*takewhile(lambda found: found.answer is SPENT, reversed(self.answers))]
        self.answers.clear()
        self.answers.extend([*reversed(before), replace(last, answer=SPENT)])


def _since(before: Seen, pods: Iterable[JSON], now: float) -> dict[str, float]:
    uids = [str(pod["metadata"].get("uid")) for pod in pods]
    return {uid: before.get(uid, now) for uid in uids}
