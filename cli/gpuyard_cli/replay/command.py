"""`gpuyard replay`: one trace against policies."""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gpuyard_cli import output
from gpuyard_cli.replay import timed as timed_replay
from gpuyard_cli.replay.trace_inputs import (
    add_source,
    named_faults,
    policy_names,
    progress_of,
    sources_of,
    write,
)

if TYPE_CHECKING:
    from gpuyard_replay.curve import Point
    from gpuyard_replay.replaying import Result, Scene

_DESCRIPTION: Final = """\
Let the pods of a trace arrive one by one, put each where a policy likes it best, and see how much of the GPUs is in
use. Nothing leaves, and what finds no place is gone: the experiment of "Beware of Fragmentation" (USENIX ATC '23).
With --timed jobs come, wait, run and go: how long do they wait, and what of the GPUs does work?
Try: gpuyard replay replay/traces/small/pods.csv --policy fgd --policy bestfit --plot curves.svg
     gpuyard replay replay/traces/jobs/pods.csv --timed --policy pack --discipline all"""


def add_to(commands: Any) -> None:
    """Add the command to those of `gpuyard`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "replay", help="a trace against policies", description=_DESCRIPTION
    )
    parser.add_argument("trace", type=Path, help="a file of pods, as openb_pod_list_default.csv")
    parser.add_argument(
        "--policy", action="append", metavar="NAME", help="again for several; all: every one (default: fgd)"
    )
    add_source(parser, "; with --load: 1000%%")
    parser.set_defaults(until=None)
    parser.add_argument(
        "--seed", type=int, default=42, help="of the order of arrivals (default: %(default)s)"
    )
    parser.add_argument("--order", type=Path, metavar="FILE", help="arrivals as recorded, instead of a seed")
    parser.add_argument(
        "--add-nodes",
        action="append",
        default=[],
        metavar="2xNAME",
        help="the same pods with more nodes, too: of a preset, or as a node of the trace is",
    )
    timed_replay.add_to(parser)
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write every point of the curves")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="draw the curves")
    output.add_format(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    timed_replay.check(arguments)
    return timed_replay.run(arguments) if arguments.timed else _arrivals(arguments)


def _arrivals(arguments: argparse.Namespace) -> int:
    from gpuyard_replay import curve, plot, sources, tables

    names = policy_names(arguments.policy)
    results: dict[str, Result] = {}
    for label, source in sources_of(arguments, 130).items():
        with named_faults():
            scene = (
                sources.ordered(source, arguments.order, arguments.seed)
                if arguments.order
                else sources.drawn(source, arguments.seed)
            )
        results |= {name + label: _replayed(scene, name) for name in names}
    curves = {name: curve.points(result.record) for name, result in results.items()}
    answer = {"replays": [to_json(name, results[name], curves[name]) for name in results]}
    print(output.printed(answer, arguments.output, lambda _: iter([tables.table(results)])))
    if arguments.csv:
        write(arguments.csv, tables.as_csv(curves))
    if arguments.plot:
        write(arguments.plot, plot.svg(f"{source.name}: {len(scene.nodes)} nodes", curves))
    return 0


def to_json(name: str, result: "Result", points: "Sequence[Point]") -> dict[str, Any]:
    """What the table says."""
    return {"policy": name, **measured(points), "withoutAPlace": dict(result.failed)}


def measured(points: "Sequence[Point]") -> dict[str, Any]:
    """What a curve comes to, in percent of all GPUs."""
    from gpuyard_replay import tables

    return {
        "inUse": {f"at{asked}": tables.at(points, asked).allocated for asked in tables.SHOWN},
        "lostAt100": tables.at(points, 100).fragmentation,
    }


def _replayed(scene: "Scene", name: str) -> "Result":
    from gpuyard.policies import registry
    from gpuyard_replay.replaying import replay

    began = time.monotonic()

    result = replay(scene, registry.named(name), progress_of(name, "pods"))
    spent = time.monotonic() - began
    if sys.stderr.isatty():
        print(f", {1e6 * spent / max(1, len(scene.arrivals)):.0f} µs each", file=sys.stderr)
    return result
