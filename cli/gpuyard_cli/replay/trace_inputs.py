"""What the commands about traces share: which files, which policies, where results go, and how faults are told."""

import argparse
import contextlib
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gpuyard_cli.inputs import InvalidInputError

if TYPE_CHECKING:
    from gpuyard_replay.sources import Source

_BAR: Final = 30
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def add_source(parser: argparse.ArgumentParser, more: str = "") -> None:
    """The arguments that say where a trace is and how far to go; `more` is said of defaults."""
    parser.add_argument("--nodes", type=Path, metavar="FILE", help="default: the node file beside the trace")
    parser.add_argument(
        "--until",
        type=percent,
        default=130,
        metavar="PERCENT",
        help=f"of all GPUs that is asked for in the end (default: 130%%{more})",
    )


def percent(text: str) -> int:
    """`130` or `130%`."""
    found = re.fullmatch(r"(\d{1,4})%?", text)
    if not found or not int(found[1]):
        raise argparse.ArgumentTypeError(f"{text!r} is no percentage; write for example 130%")
    return int(found[1])


def seconds(text: str) -> int:
    """`90`, `90s`, `15m`, `2h`, `3d`; at least a second."""
    found = re.fullmatch(r"(\d{1,9})([smhd]?)", text)
    if not found or not int(found[1]):
        raise argparse.ArgumentTypeError(f"{text!r} is no duration; write for example 90s, 15m, 2h or 3d")
    return int(found[1]) * _UNITS[found[2] or "s"]


def sources_of(arguments: argparse.Namespace, until: int) -> "Mapping[str, Source]":
    """The trace as it is and, where nodes are added, with them, by what is said behind a policy's name."""
    from gpuyard_replay.sources import Source

    until = until if arguments.until is None else arguments.until
    added = tuple(arguments.add_nodes)
    found = {"": Source(arguments.trace, arguments.nodes, until)}
    if added:
        found[f" +{'+'.join(added)}"] = Source(arguments.trace, arguments.nodes, until, added)
    return found


def policy_names(asked: list[str] | None) -> list[str]:
    """The names asked for of the registry's, each once; InvalidInputError where one is unknown."""
    from gpuyard.policies import registry

    return chosen("--policy", asked or ["fgd"], registry.names())


def chosen(flag: str, asked: list[str], known: Collection[str]) -> list[str]:
    """The names asked for, each once, or all that are known; InvalidInputError where one is not."""
    if asked == ["all"]:
        return list(known)
    unknown = [name for name in asked if name not in known]
    if unknown:
        raise InvalidInputError(flag, "", f"{unknown[0]!r} is unknown", f"use {', '.join(known)}, or all")
    return list(dict.fromkeys(asked))


def progress_of(name: str, things: str) -> Callable[[int, int], None]:
    """A bar, where somebody looks."""

    def show(done: int, every: int) -> None:
        if sys.stderr.isatty():
            bar = "#" * (_BAR * done // max(1, every))
            print(
                f"\r{name:12} [{bar:{_BAR}}] {done} of {every} {things}", end="", file=sys.stderr, flush=True
            )

    return show


@contextlib.contextmanager
def named_faults() -> Iterator[None]:
    """What is wrong with a trace, as every fault of an input is told."""
    from gpuyard_replay.traces import InvalidTraceError

    try:
        yield
    except InvalidTraceError as error:
        raise InvalidInputError(error.place, "", error.problem, error.remedy) from error


def write(file: Path, text: str) -> None:
    """Write a result, and say so beside the answer."""
    try:
        file.write_text(text)
    except OSError as error:
        raise InvalidInputError(
            file, "", error.strerror or str(error), "name a file that can be written"
        ) from error
    print(f"wrote {file}", file=sys.stderr)
