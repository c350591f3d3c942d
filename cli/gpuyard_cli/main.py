"""The `gpuyard` command."""

import argparse
import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gpuyard_cli import (
    audit_command,
    capture_command,
    explain_command,
    fault_command,
    replay_command,
    simulate_command,
    sweep_command,
    top_command,
    uninstall_command,
    up,
)
from gpuyard_cli.inputs import InvalidInputError

if TYPE_CHECKING:
    from gpuyard_cli.examples import Example
    from gpuyard_cli.report import Report
    from gpuyard_cli.runner import Outcome

BACKENDS = ("steps", "embedded", "kind", "kubeconfig")
_PACKAGED = Path(__file__).parent / "examples"
EXAMPLES = _PACKAGED if _PACKAGED.is_dir() else Path(__file__).parents[2] / "examples"
"""A wheel carries them beside this package; an editable install finds them at the repository's root."""


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code 0: as expected; 1: a scenario failed; 2: the input cannot be used; 130 and 143: ended by a signal."""
    arguments = _parser().parse_args(argv)
    with _terminations() as terminated:
        try:
            return int(arguments.run(arguments))
        except InvalidInputError as fault:
            print(f"gpuyard: {fault}", file=sys.stderr)
            return 2
        except KeyboardInterrupt:
            return 143 if terminated else 130
        except BrokenPipeError:
            # Who read has gone, as `| head` does. Python would complain once more when it flushes at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 141


@contextlib.contextmanager
def _terminations() -> Iterator[list[int]]:
    """SIGTERM ends as Ctrl-C does, which asyncio turns into the end of what it runs; the list is no more empty then.

    An exception raised by a handler of our own would come up in whatever task is at work at the moment.
    """
    came = list[int]()

    def end(number: int, _frame: object) -> None:
        came.append(number)
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            # A script's shell lets what it starts with & ignore Ctrl-C; SIGTERM is meant all the same.
            signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield came
    finally:
        signal.signal(signal.SIGTERM, before)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gpuyard", description="A GPU cluster in one Python process: run scenarios, see every decision."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser(
        "run", help="run one example", description="Run one example and check what it expects."
    )
    run.add_argument("example", type=Path, help="a folder such as examples/01-one-gpu")
    run.add_argument("--on", choices=BACKENDS, default="embedded", help="the backend (default: embedded)")
    run.add_argument(
        "--step", action="store_true", help="on steps: stop after every event and print the state"
    )
    run.set_defaults(run=_run)
    demo = commands.add_parser("demo", help="run all examples", description="Run every example of a folder.")
    demo.add_argument(
        "folder", type=Path, nargs="?", default=EXAMPLES, help="default: the project's examples"
    )
    demo.add_argument("--on", choices=BACKENDS, default="embedded", help="the backend (default: embedded)")
    demo.set_defaults(run=_demo)
    audit_command.add_to(commands)
    capture_command.add_to(commands)
    explain_command.add_to(commands)
    fault_command.add_to(commands)
    replay_command.add_to(commands)
    simulate_command.add_to(commands)
    sweep_command.add_to(commands)
    top_command.add_to(commands)
    uninstall_command.add_to(commands)
    up.add_to(commands)
    return parser


# What runs scenarios is imported where it is needed: it takes a second, and a signal may come meanwhile.


def _run(arguments: argparse.Namespace) -> int:
    from gpuyard_cli.examples import load
    from gpuyard_cli.report import Report

    if arguments.step and arguments.on != "steps":
        raise InvalidInputError("--step", "", f"--on {arguments.on} cannot be stepped", "add --on steps")
    outcome = _one(load(arguments.example), arguments.on, Report(), stepped=arguments.step)
    return 0 if outcome.passed else 1


def _demo(arguments: argparse.Namespace) -> int:
    from gpuyard_cli.examples import load
    from gpuyard_cli.report import summary

    folders = sorted(path.parent for path in arguments.folder.glob("*/scenario.yaml"))
    if not folders:
        raise InvalidInputError(
            arguments.folder, "", "no examples there", "name a folder with */scenario.yaml"
        )
    examples, began = [load(folder) for folder in folders], time.monotonic()
    outcomes = _all(examples, arguments.on)
    print(summary(outcomes, time.monotonic() - began))
    return 0 if all(outcome.passed for outcome in outcomes) else 1


def _all(examples: Sequence["Example"], backend: str) -> list["Outcome"]:
    from gpuyard_cli import running
    from gpuyard_cli.report import Report, Turns

    if backend != "embedded":
        return [_one(example, backend, Report()) for example in examples]
    turns = Turns(len(examples))
    reports = [Report(turns, number) for number in range(len(examples))]
    return asyncio.run(running.run_together(examples, reports))


def _one(example: "Example", backend: str, report: "Report", *, stepped: bool = False) -> "Outcome":
    from gpuyard_cli import running

    report.title(example, backend)
    outcome = running.run(example, backend, report, stepped=stepped)
    report.outcome(outcome)
    return outcome
