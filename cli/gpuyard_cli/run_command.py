"""`gpuyard run` and `gpuyard demo`: examples on a backend."""

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gpuyard_cli import output
from gpuyard_cli.inputs import InvalidInputError

if TYPE_CHECKING:
    from gpuyard_cli.scenarios.examples import Example
    from gpuyard_cli.scenarios.report import Report
    from gpuyard_cli.scenarios.runner import Outcome

BACKENDS: Final = ("steps", "embedded", "kind", "kubeconfig")
_PACKAGED: Final = Path(__file__).parent / "examples"
EXAMPLES: Final = _PACKAGED if _PACKAGED.is_dir() else Path(__file__).parents[2] / "examples"
"""A wheel carries them beside this package; an editable install finds them at the repository's root."""
_RUN: Final = """\
Run one example and check, after each of its steps, what it expects to be seen; at the end, an audit.
Exit code 0: all was as expected; 1: it was not; 2: the example cannot be read."""
_TOPIC: Final = "[0-9][0-9]-*"
"""The first example of a topic; what more there is to it has a letter, such as 03b."""
_DEMO: Final = """\
Run examples, each on a cluster of its own: one of each topic, or all of a folder.
Exit code 0: all was as expected; 1: it was not; 2: an example cannot be read."""
_BACKENDS: Final = """\
backends:
  steps       the parts call each other on a clock that is stepped: no sockets, no waiting
  embedded    the same parts over HTTP and gRPC, in real time
  kind        the kind cluster of kind-config.yaml
  kubeconfig  the cluster that kubectl talks to; its nodes labelled gpuyard.io/fake-gpus are lent"""


def add_to(commands: Any) -> None:
    """Add both commands to those of `gpuyard`."""
    demo = _added(commands, "demo", "run one example of each topic", _DEMO)
    demo.add_argument(
        "folder", type=Path, nargs="?", help="run all of its examples (default: one of each topic)"
    )
    demo.set_defaults(run=_demo)
    run = _added(commands, "run", "run one example, event by event if you like", _RUN)
    run.add_argument("example", type=Path, help="a folder such as examples/01-one-gpu")
    run.add_argument(
        "--step", action="store_true", help="on steps: stop after every event and print the state"
    )
    run.set_defaults(run=_run)


def _added(commands: Any, name: str, use: str, description: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=use, description=description, epilog=_BACKENDS
    )
    parser.add_argument("--on", choices=BACKENDS, default="embedded", help="the backend (default: embedded)")
    output.add_format(parser)
    return parser


# What runs scenarios is imported where it is needed: it takes a second, and a signal may come meanwhile.


def _run(arguments: argparse.Namespace) -> int:
    from gpuyard_cli.scenarios.examples import load

    if arguments.step and arguments.on != "steps":
        raise InvalidInputError("--step", "", f"--on {arguments.on} cannot be stepped", "add --on steps")
    [outcome] = _outcomes([load(arguments.example)], arguments)
    if arguments.output != "table":
        print(output.printed(to_json(outcome), arguments.output))
    return 0 if outcome.passed else 1


def _demo(arguments: argparse.Namespace) -> int:
    from gpuyard_cli.scenarios.examples import load
    from gpuyard_cli.scenarios.report import summary

    folder, names = (arguments.folder, "*") if arguments.folder else (EXAMPLES, _TOPIC)
    folders = sorted(path.parent for path in folder.glob(f"{names}/scenario.yaml"))
    if not folders:
        raise InvalidInputError(folder, "", "no examples there", "name a folder with */scenario.yaml")
    examples, began = [load(folder) for folder in folders], time.monotonic()
    outcomes = _outcomes(examples, arguments)
    answer = {"examples": [to_json(outcome) for outcome in outcomes]}
    seconds = time.monotonic() - began
    print(output.printed(answer, arguments.output, lambda _: iter([summary(outcomes, seconds)])))
    return 0 if all(outcome.passed for outcome in outcomes) else 1


def to_json(outcome: "Outcome") -> dict[str, Any]:
    """What came of a scenario, with a line for each fault, as people read it."""
    return {
        "example": outcome.example,
        "backend": outcome.backend,
        "passed": outcome.passed,
        "steps": [step.name for step in outcome.steps],
        "faults": list(outcome.faults),
    }


def _outcomes(examples: "Sequence[Example]", arguments: argparse.Namespace) -> "list[Outcome]":
    """Run them, and tell people how it goes: beside the answer where a program reads it."""
    from gpuyard_cli.backends import running
    from gpuyard_cli.scenarios.report import Report, Turns

    turns = Turns(len(examples), None if arguments.output == "table" else sys.stderr)
    reports = [Report(turns, number) for number in range(len(examples))]
    if arguments.on == "embedded":
        return asyncio.run(running.run_together(examples, reports))
    stepped = "step" in arguments and arguments.step
    return [_one(*pair, arguments.on, stepped=stepped) for pair in zip(examples, reports, strict=True)]


def _one(example: "Example", report: "Report", backend: str, *, stepped: bool) -> "Outcome":
    from gpuyard_cli.backends import running

    report.title(example, backend)
    outcome = running.run(example, backend, report, stepped=stepped)
    report.outcome(outcome)
    return outcome
