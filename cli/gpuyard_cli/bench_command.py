"""`gpuyard bench`: what the parts cost on this machine.

The benchmarks are programs of their own, in `benchmarks/`: each runs in a process that nothing else was loaded into.
"""

import argparse
import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from gpuyard_cli.inputs import InvalidInputError

_PACKAGED: Final = Path(__file__).parent / "measuring/benchmarks"
FOLDER: Final = _PACKAGED if _PACKAGED.is_dir() else Path(__file__).parents[2] / "benchmarks"
"""A wheel carries them in a folder of their own, where modules can be looked for; else they are the repository's."""
_DESCRIPTION: Final = """\
Run a benchmark; without NAME, list them. They measure and judge nothing: what was measured elsewhere is in
benchmarks/README.md. What follows NAME is for the benchmark.
Try: gpuyard bench planning
     gpuyard bench extender --sizes 100:0 --seconds 2
     gpuyard bench extender --help"""


def add_to(commands: Any) -> None:
    """Add the command to those of `gpuyard`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "bench", help="measure what the parts cost on this machine", description=_DESCRIPTION
    )
    parser.add_argument("name", metavar="NAME", nargs="?")
    parser.add_argument("rest", metavar="...", nargs=argparse.REMAINDER, help="for the benchmark")
    parser.set_defaults(run=_run)


def benchmarks() -> dict[str, str]:
    """The programs with options, by name, with the first line of what they say of themselves."""
    return dict(sorted(_programs()))


def _programs() -> Iterator[tuple[str, str]]:
    for path in FOLDER.glob("*.py"):
        text = path.read_text("utf-8")
        if "argparse" in text and "__main__" in text:
            yield path.stem, (ast.get_docstring(ast.parse(text)) or "").split("\n")[0]


def _run(arguments: argparse.Namespace) -> int:
    known = benchmarks()
    if arguments.name is None:
        width = max(map(len, known)) + 2
        print("\n".join(f"{name:<{width}}{what}" for name, what in known.items()))
        return 0
    if arguments.name not in known:
        remedy = f"use {', '.join(known)}"
        raise InvalidInputError("NAME", "", f"{arguments.name!r} is no benchmark", remedy)
    command = [sys.executable, "-m", f"benchmarks.{arguments.name}", *arguments.rest]
    paths = [str(FOLDER.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.run(command, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)}).returncode
