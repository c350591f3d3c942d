"""Tells of every answer: as a number, in the history and the log of decisions, and in a sentence.

Stands for a scheduler's metrics and log lines. Law: an answer is told after it was made, and no verb waits for that.
"""

from collections.abc import Mapping, Sequence

from gpuyard import vocabulary
from gpuyard.groups.plans import PlanAnswer, PlanRequest
from gpuyard.narration import Beat, Narrator
from gpuyard.preempting.stakes import Victims
from gpuyard_extender import decisions, telling
from gpuyard_extender.binding import BindRequest
from gpuyard_extender.decisions import Book, Decision
from gpuyard_extender.history import History
from gpuyard_extender.ledger import Ledger
from gpuyard_extender.pods import Pod
from gpuyard_extender.scheduling import Filtered
from gpuyard_extender.tally import PASSED, Tally


class Reports:
    """`book` is where decisions are noted for good, if anywhere."""

    def __init__(self, narrate: Narrator, book: Book | None) -> None:
        self.tally, self.history, self.book = Tally(), History(), book
        self._narrate = narrate

    def say(self, text: str) -> None:
        """Something that is no answer to anybody."""
        self._narrate(Beat(vocabulary.EXTENDER, text))

    def filtered(self, pod: Pod, names: Sequence[str], found: Filtered, ledger: Ledger, now: float) -> None:
        self._note(decisions.of_filter(pod, len(names), found, ledger, now))
        self.tally.verdicts.update({reason: len(nodes) for reason, nodes in found.rejected.items()})
        self.tally.verdicts[PASSED] += len(found.passed)
        self.say(telling.of_filter(pod.name, found))

    def prioritized(self, pod: Pod, ranks: Mapping[str, int], ledger: Ledger, now: float) -> None:
        self._note(decisions.of_prioritize(pod, ranks, ledger, now))
        self.say(telling.of_prioritize(pod.name, ranks))

    def preempted(self, pod: Pod, candidates: int, found: Mapping[str, Victims], now: float) -> None:
        self._note(decisions.of_preempt(pod, candidates, found, now))
        self.say(telling.of_preempt(pod.name, found))

    def bound(self, request: BindRequest, refusal: str, ledger: Ledger, now: float) -> None:
        """The binder tells of what it does itself, as it does it."""
        self.tally.binds["refused" if refusal else "bound"] += 1
        self._note(decisions.of_bind(request, refusal, ledger, now))

    def planned(self, request: PlanRequest, answer: PlanAnswer, ledger: Ledger, now: float) -> None:
        """A promise that was kept is no new answer."""
        self._note(*decisions.of_plan(request, answer, ledger, now))
        if text := telling.of_plan(request, answer):
            self.say(text)

    def _note(self, *made: Decision) -> None:
        for decision in made:
            self.history.note(decision)
            if self.book is not None:
                self.book.note(decision)
