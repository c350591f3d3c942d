"""What a run prints: the steps as they happen, and PASS or the differences at the end."""

import sys
from collections.abc import Sequence
from typing import TextIO

from gpuyard.narration import Beat
from gpuyard_cli import colours
from gpuyard_cli.scenarios.examples import Example
from gpuyard_cli.scenarios.runner import Outcome


class Turns:
    """Several runs that write to one stream, one after the other: whose turn it is writes at once, others wait."""

    def __init__(self, count: int, out: TextIO | None = None) -> None:
        """`out` is stdout where none is given."""
        self.out = out or sys.stdout
        self._waiting: list[list[str]] = [[] for _ in range(count)]
        self._done = [False] * count
        self._turn = 0

    def write(self, number: int, line: str) -> None:
        if number == self._turn:
            print(line, file=self.out, flush=True)
        else:
            self._waiting[number].append(line)

    def end(self, number: int) -> None:
        """Run `number` writes no more."""
        self._done[number] = True
        while self._turn < len(self._done) and self._done[self._turn]:
            self._turn += 1
            for line in self._waiting[self._turn] if self._turn < len(self._done) else ():
                print(line, file=self.out, flush=True)


class Report:
    """Writes run `number` of `turns` as plain lines, coloured on a terminal."""

    def __init__(self, turns: Turns | None = None, number: int = 0) -> None:
        self._turns, self._number = turns or Turns(1), number
        self._colour = colours.wanted(self._turns.out)

    def title(self, example: Example, backend: str) -> None:
        self._line(self._paint(colours.BOLD, f"{example.name} on {backend}: {example.scenario.title}"))

    def step(self, name: str) -> None:
        self._line(self._paint(colours.CYAN, f"  {name}"))

    def beat(self, beat: Beat) -> None:
        self._line(f"    {beat.actor:<22} {beat.text}")

    def outcome(self, outcome: Outcome) -> None:
        for fault in outcome.faults:
            self._line(self._paint(colours.RED, f"  FAIL {fault}"))
        if outcome.passed:
            self._line(self._paint(colours.GREEN, f"  PASS {outcome.example}"))
        self._turns.end(self._number)

    def _paint(self, code: str, text: str) -> str:
        return colours.paint(code, text) if self._colour else text

    def _line(self, text: str) -> None:
        self._turns.write(self._number, text)


def summary(outcomes: Sequence[Outcome], seconds: float) -> str:
    """The last line of a demo."""
    failed = [outcome.example for outcome in outcomes if not outcome.passed]
    counts = f"{len(outcomes) - len(failed)} passed, {len(failed)} failed"
    return f"{counts} in {seconds:.1f} s{': ' if failed else ''}{', '.join(failed)}"
