"""`gpuyard version`: what is installed, and what it speaks."""

import argparse
import platform
from collections.abc import Iterator
from importlib import metadata
from typing import Any

from gpuyard_cli import output


def add_to(commands: Any) -> None:
    """Add the command to those of `gpuyard`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "version",
        help="versions, for a bug report",
        description="Say which GPUYard, Kubernetes and Python these are.",
    )
    output.add_format(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from gpuyard_cluster.apiserver.documents.health import VERSION

    versions = {
        "gpuyard": metadata.version("gpuyard"),
        "kubernetes": VERSION["gitVersion"],
        "python": platform.python_version(),
        "platform": platform.platform(),
    }
    print(output.printed(versions, arguments.output, _table))
    return 0


def _table(versions: dict[str, Any]) -> Iterator[str]:
    yield from (f"{name:<12}{version}" for name, version in versions.items())
