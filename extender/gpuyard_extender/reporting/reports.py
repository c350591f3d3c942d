"""Tells of every answer: as a number, in the history and the log of decisions, and in a sentence.

Stands for a scheduler's metrics and log lines. Law: an answer is told after it was made, and no verb waits for that.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from gpuyard import vocabulary
from gpuyard.groups.plans import PlanAnswer, Planned, PlanRequest, Unplaceable
from gpuyard.narration import Beat, Narrator, few
from gpuyard.preempting.stakes import Victims
from gpuyard_extender.binding.binding import BindRequest
from gpuyard_extender.deciding.scheduling import Filtered
from gpuyard_extender.ledger.ledger import Ledger
from gpuyard_extender.ledger.pods import Pod
from gpuyard_extender.reporting import decisions
from gpuyard_extender.reporting.decisions import Book, Decision
from gpuyard_extender.reporting.history import History
from gpuyard_extender.reporting.tally import PASSED, Tally

_SHOWN: Final = 8
"""Node names in a sentence."""


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
        self.say(_filtered(pod.name, found))

    def prioritized(self, pod: Pod, ranks: Mapping[str, int], ledger: Ledger, now: float) -> None:
        self._note(decisions.of_prioritize(pod, ranks, ledger, now))
        self.say(_prioritized(pod.name, ranks))

    def preempted(self, pod: Pod, candidates: int, found: Mapping[str, Victims], now: float) -> None:
        self._note(decisions.of_preempt(pod, candidates, found, now))
        self.say(_preempted(pod.name, found))

    def bound(self, request: BindRequest, refusal: str, ledger: Ledger, now: float) -> None:
        """The binder tells of what it does itself, as it does it."""
        self.tally.binds["refused" if refusal else "bound"] += 1
        self._note(decisions.of_bind(request, refusal, ledger, now))

    def planned(self, request: PlanRequest, answer: PlanAnswer, ledger: Ledger, now: float) -> None:
        """A promise that was kept is no new answer."""
        self._note(*decisions.of_plan(request, answer, ledger, now))
        if text := _planned(request, answer):
            self.say(text)

    def _note(self, *made: Decision) -> None:
        for decision in made:
            self.history.note(decision)
            if self.book is not None:
                self.book.note(decision)


def _filtered(pod: str, found: Filtered) -> str:
    """Who passes, and how many do not for what."""
    refused = "".join(f", {len(names)} × {reason}" for reason, names in sorted(found.rejected.items()))
    passed = few([*sorted(found.passed[:_SHOWN]), *found.passed[_SHOWN:]], _SHOWN)
    return f"Filter {pod}: {passed or 'no node'} passes{refused}"


def _prioritized(pod: str, ranks: Mapping[str, int]) -> str:
    """The order of the nodes."""
    return f"Score {pod}: {few(ranks, _SHOWN, ' > ')}"


def _preempted(pod: str, found: Mapping[str, Victims]) -> str:
    """How many would go where."""
    offers = [f"{len(victims.uids)} on {name}" for name, victims in found.items()]
    return f"Preempt for {pod}: victims: {few(offers, _SHOWN) or 'none that help'}"


def _planned(request: PlanRequest, answer: PlanAnswer) -> str:
    """The places, or who has none; empty where nothing was decided."""
    match answer:
        case Planned(reservation):
            places = ", ".join(f"{seat.name} on {seat.node}" for seat in reservation.seats)
            leave = ", ".join(victim.name for victim in reservation.victims)
            return f"Plan {request.group}: {places}{f', once these are gone: {leave}' if leave else ''}"
        case Unplaceable(member, _):
            return f"Plan {request.group}: no node for {member}"
    return ""
