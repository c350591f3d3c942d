"""What a run prints: the steps as they happen, and PASS or the differences at the end."""

import sys
from typing import TextIO

from gpuyard.narration import Beat
from gpuyard_cli.examples import Example
from gpuyard_cli.runner import Outcome


class Report:
    """Writes one run to `out` as plain lines, coloured on a terminal."""

    def __init__(self, out: TextIO = sys.stdout) -> None:
        self._out, self._colour = out, out.isatty()

    def title(self, example: Example, backend: str) -> None:
        self._line(self._paint("1", f"{example.name} on {backend}: {example.scenario.title}"))

    def step(self, name: str) -> None:
        self._line(self._paint("36", f"  {name}"))

    def beat(self, beat: Beat) -> None:
        self._line(f"    {beat.actor:<22} {beat.text}")

    def outcome(self, outcome: Outcome) -> None:
        for step in outcome.steps:
            for fault in step.faults:
                self._line(self._paint("31", f"  FAIL {step.name}: {fault}"))
        if outcome.passed:
            self._line(self._paint("32", f"  PASS {outcome.example}"))

    def summary(self, outcomes: list[Outcome], seconds: float) -> None:
        failed = [outcome.example for outcome in outcomes if not outcome.passed]
        passed = len(outcomes) - len(failed)
        self._line(
            f"{passed} passed, {len(failed)} failed in {seconds:.1f} s{': ' if failed else ''}{', '.join(failed)}"
        )

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour else text

    def _line(self, text: str) -> None:
        print(text, file=self._out, flush=True)
