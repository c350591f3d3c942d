"""The work on one pod group: what is kept of it between two looks, none of which is needed.

Stands for the entry of one object in controller-runtime's work queue.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from gpuyard.groups.plans import Unready
from gpuyard.writes import JSON
from gpuyard_kube.recording import Told
from gpuyard_kube.runtime import Signal
from gpuyard_operator.asking import TRIES, Answered
from gpuyard_operator.commit import Seen
from gpuyard_operator.groups import Key
from gpuyard_operator.members import node_of

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
    news: Told | None = None
    """The last reason of its group that was told to people, or is about to be."""

    def wake(self) -> None:
        """There is something new to look at."""
        self.dirty = True
        self.signal.fire()

    def see(self, pods: Iterable[JSON], reservation: JSON | None, now: float) -> Seen:
        """Remember, by the operator's own clock, since when which of these pods are on nodes and places are held."""
        bound = [str(pod["metadata"].get("uid")) for pod in pods if node_of(pod)]
        seen = {uid: self.seen.get(uid, now) for uid in bound}
        if reservation is not None:
            expires = str((reservation.get("spec") or {}).get("expires"))
            seen[expires] = self.seen.get(expires, now if self.looked else 0.0)
        self.seen, self.looked = seen, True
        return seen

    def spend(self) -> None:
        """Places that were recorded are not recorded again, nor asked for again at once, should they be lost."""
        spent = [replace(last, answer=SPENT) for last in [*self.answers][-1:]]
        self.answers.clear()
        self.answers.extend(spent)
