"""`gpuyard replay`: one trace against policies."""

import argparse
import contextlib
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gpuyard_cli.inputs import InvalidInputError

if TYPE_CHECKING:
    from gpuyard_replay.replaying import Result, Scene

_DESCRIPTION: Final = """\
Let the pods of a trace arrive one by one, put each where a policy likes it best, and see how much of the GPUs is in
use. Nothing leaves, and what finds no place is gone: the experiment of "Beware of Fragmentation" (USENIX ATC '23).
Try: gpuyard replay replay/traces/small/pods.csv --policy fgd --policy bestfit --plot curves.svg"""
_BAR: Final = 30


def add_to(commands: Any) -> None:
    """Add the command to those of `gpuyard`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "replay",
        help="a trace against policies",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("trace", type=Path, help="a file of pods, as openb_pod_list_default.csv")
    parser.add_argument(
        "--policy", action="append", metavar="NAME", help="again for several; all: every one (default: fgd)"
    )
    add_source(parser)
    parser.add_argument(
        "--seed", type=int, default=42, help="of the order of arrivals (default: %(default)s)"
    )
    parser.add_argument("--order", type=Path, metavar="FILE", help="arrivals as recorded, instead of a seed")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write every point of the curves")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="draw the curves")
    parser.set_defaults(run=_run)


def add_source(parser: argparse.ArgumentParser) -> None:
    """The arguments that say where a trace is and how far to go."""
    parser.add_argument("--nodes", type=Path, metavar="FILE", help="default: the node file beside the trace")
    parser.add_argument(
        "--until",
        type=percent,
        default=130,
        metavar="PERCENT",
        help="of all GPUs that is asked for in the end (default: %(default)s%%)",
    )


def percent(text: str) -> int:
    """`130` or `130%`."""
    found = re.fullmatch(r"(\d{1,4})%?", text)
    if not found or not int(found[1]):
        raise argparse.ArgumentTypeError(f"{text!r} is no percentage; write for example 130%")
    return int(found[1])


def policy_names(asked: list[str] | None) -> list[str]:
    """The names asked for, each once; InvalidInputError where one is unknown."""
    from gpuyard.policies import registry

    if asked == ["all"]:
        return registry.names()
    for name in asked or ():
        try:
            registry.named(name)
        except registry.UnknownPolicyError as error:
            raise InvalidInputError("--policy", "", str(error), "name one of these") from error
    return list(dict.fromkeys(asked or ["fgd"]))


@contextlib.contextmanager
def named_faults() -> Iterator[None]:
    """What is wrong with a trace, as every fault of an input is told."""
    from gpuyard_replay.traces import InvalidTraceError

    try:
        yield
    except InvalidTraceError as error:
        raise InvalidInputError(error.place, "", error.problem, error.remedy) from error


def write(file: Path, text: str) -> None:
    """Write a result, and say so."""
    try:
        file.write_text(text)
    except OSError as error:
        raise InvalidInputError(
            file, "", error.strerror or str(error), "name a file that can be written"
        ) from error
    print(f"wrote {file}")


def _run(arguments: argparse.Namespace) -> int:
    from gpuyard_replay import curve, plot, sources, tables

    names = policy_names(arguments.policy)
    source = sources.Source(arguments.trace, arguments.nodes, arguments.until)
    with named_faults():
        scene = (
            sources.ordered(source, arguments.order, arguments.seed)
            if arguments.order
            else sources.drawn(source, arguments.seed)
        )
    results = {name: _replayed(scene, name) for name in names}
    curves = {name: curve.points(result.record) for name, result in results.items()}
    print(tables.table(results))
    if arguments.csv:
        write(arguments.csv, tables.as_csv(curves))
    if arguments.plot:
        write(arguments.plot, plot.svg(f"{source.name}: {len(scene.nodes)} nodes", curves))
    return 0


def _replayed(scene: "Scene", name: str) -> "Result":
    from gpuyard.policies import registry
    from gpuyard_replay.replaying import replay

    began = time.monotonic()

    def progress(done: int, every: int) -> None:
        if sys.stderr.isatty():
            bar = "#" * (_BAR * done // max(1, every))
            print(f"\r{name:12} [{bar:{_BAR}}] {done} of {every} pods", end="", file=sys.stderr, flush=True)

    result = replay(scene, registry.named(name), progress)
    spent = time.monotonic() - began
    if sys.stderr.isatty():
        print(f", {1e6 * spent / max(1, len(scene.arrivals)):.0f} µs each", file=sys.stderr)
    return result
