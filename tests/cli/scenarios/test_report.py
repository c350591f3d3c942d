"""What a run prints."""

import io
from pathlib import Path

from gpuyard.narration import Beat
from gpuyard_cli.scenarios import scenario
from gpuyard_cli.scenarios.examples import Example
from gpuyard_cli.scenarios.report import Report, Turns, summary
from gpuyard_cli.scenarios.runner import Outcome, StepResult

DOCUMENT = {"title": "One pod", "namespace": "default", "steps": [{"name": "it runs"}]}
EXAMPLE = Example(Path("examples/07-mine"), (), scenario.parse(Path("scenario.yaml"), DOCUMENT), {})
PASSED = Outcome("07-mine", "steps", (StepResult("it runs", None),))
FAILED = Outcome("07-mine", "steps", (StepResult("it runs", None, ("law",), ("pod a: there is none",)),))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def told(outcome: Outcome, out: io.StringIO) -> str:
    report = Report(Turns(1, out))
    report.title(EXAMPLE, "steps")
    report.step("it runs")
    report.beat(Beat("scheduler", "pod train: bound"))
    report.outcome(outcome)
    return out.getvalue()


def test_a_run_that_passed_ends_with_pass() -> None:
    assert told(PASSED, io.StringIO()).splitlines() == [
        "07-mine on steps: One pod",
        "  it runs",
        "    scheduler              pod train: bound",
        "  PASS 07-mine",
    ]


def test_a_run_that_failed_ends_with_each_difference() -> None:
    assert told(FAILED, io.StringIO()).splitlines()[-2:] == [
        "  FAIL it runs: law",
        "  FAIL it runs: pod a: there is none",
    ]


def test_colours_are_for_terminals_only() -> None:
    assert "\x1b[32m  PASS 07-mine\x1b[0m" in told(PASSED, Terminal())
    assert "\x1b" not in told(PASSED, io.StringIO())


def test_runs_side_by_side_are_printed_one_after_the_other() -> None:
    out = io.StringIO()
    turns = Turns(3, out)
    turns.write(1, "b1")
    turns.write(0, "a1")
    turns.write(2, "c1")
    assert out.getvalue().split() == ["a1"], "whose turn it is writes at once"
    turns.end(2)
    turns.write(1, "b2")
    turns.end(0)
    assert out.getvalue().split() == ["a1", "b1", "b2"]
    turns.write(1, "b3")
    turns.end(1)
    assert out.getvalue().split() == ["a1", "b1", "b2", "b3", "c1"]


def test_the_summary_counts_and_names_what_failed() -> None:
    assert summary([PASSED, PASSED], 1.25) == "2 passed, 0 failed in 1.2 s"
    assert summary([PASSED, FAILED], 2.0) == "1 passed, 1 failed in 2.0 s: 07-mine"
