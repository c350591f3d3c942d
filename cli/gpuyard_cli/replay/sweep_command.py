"""`gpuyard sweep`: traces times policies times seeds, and what they show together."""

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gpuyard_cli import output
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_cli.replay.command import measured
from gpuyard_cli.replay.trace_inputs import add_source, named_faults, policy_names, write

if TYPE_CHECKING:
    from gpuyard_replay.sweeping import Curves

_DESCRIPTION: Final = """\
Replay traces with several policies and seeds on all cores. Results go to a file, line by line: what is there is not
run again, so that an interrupted sweep goes on where it was.
Try: gpuyard sweep replay/traces/small/pods.csv --policy all --seeds 1-5 --results sweep.csv --report sweep.md"""

_MOST_SEEDS: Final = 10_000


def add_to(commands: Any) -> None:
    """Add the command to those of `gpuyard`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "sweep", help="traces times policies times seeds", description=_DESCRIPTION
    )
    parser.add_argument(
        "trace", type=Path, nargs="+", help="files of pods, with the same nodes or some beside"
    )
    parser.add_argument("--policy", action="append", metavar="NAME", help="again for several; all: every one")
    parser.add_argument(
        "--seeds", type=seeds, default=range(42, 52), metavar="FIRST-LAST", help="default: 42-51"
    )
    add_source(parser)
    parser.add_argument("--jobs", type=_jobs, default=0, help="processes (default: one for each core)")
    parser.add_argument("--results", type=Path, required=True, metavar="FILE.csv", help="is added to")
    parser.add_argument(
        "--report", type=Path, metavar="FILE.md", help="write tables, and a plot for each trace"
    )
    output.add_format(parser)
    parser.set_defaults(run=_run)


def seeds(text: str) -> range:
    """`42-51`, or one seed."""
    found = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", text)
    if not found or int(found[2] or found[1]) < int(found[1]):
        raise argparse.ArgumentTypeError(f"{text!r} are no seeds; write for example 42-51")
    wanted = range(int(found[1]), int(found[2] or found[1]) + 1)
    if len(wanted) > _MOST_SEEDS:
        raise argparse.ArgumentTypeError(f"{len(wanted)} seeds; give {_MOST_SEEDS} at most")
    return wanted


def _jobs(text: str) -> int:
    if not re.fullmatch(r"[1-9]\d{0,2}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of processes; write for example 4")
    return int(text)


def _run(arguments: argparse.Namespace) -> int:
    from gpuyard_replay import comparison, sweeping
    from gpuyard_replay.sources import Source

    chosen = [Source(trace, arguments.nodes, arguments.until) for trace in arguments.trace]
    tasks = [
        sweeping.Task(source, policy, seed)
        for seed in arguments.seeds
        for source in chosen
        for policy in policy_names(arguments.policy)
    ]
    if not arguments.results.parent.is_dir() or (
        arguments.results.exists() and not arguments.results.is_file()
    ):
        raise InvalidInputError(
            arguments.results, "", "no file can be there", "name one in a folder that is there"
        )
    with named_faults():
        known = sweeping.read(arguments.results) if arguments.results.exists() else {}
        count = sum(task.key not in known for task in tasks)
        for number, key in enumerate(sweeping.sweep(tasks, arguments.results, arguments.jobs), 1):
            print(f"{number} of {count}: {key.trace} {key.policy} seed {key.seed}", file=sys.stderr)
        every = sweeping.read(arguments.results)
    wanted = {task.key for task in tasks}
    curves = {key: points for key, points in every.items() if key in wanted}
    tables = comparison.markdown(curves)
    print(output.printed(to_json(curves), arguments.output, lambda _: iter([tables])))
    if arguments.report:
        _report(curves, tables, arguments.report)
    return 0


def to_json(curves: "Curves") -> dict[str, Any]:
    """What came of each replay."""
    runs = [
        {"trace": key.trace, "policy": key.policy, "seed": key.seed, **measured(points)}
        for key, points in sorted(curves.items())
    ]
    return {"replays": runs}


def _report(curves: "Curves", tables: str, report: Path) -> None:
    from gpuyard_replay import comparison, plot

    pictures = []
    for trace in dict.fromkeys(key.trace for key in curves):
        picture = report.with_name(f"{report.stem}-{trace}.svg")
        write(picture, plot.svg(f"{trace}, mean over seeds", comparison.means(curves, trace)))
        pictures.append(f"![{trace}]({picture.name})")
    write(report, "\n\n".join([tables, *pictures, ""]))
