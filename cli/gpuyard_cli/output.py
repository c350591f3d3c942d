"""What is common to commands that ask a running cluster: which one, and how the answer is printed."""

import argparse
import json
from collections.abc import Callable, Iterator
from typing import Any, Final

FORMATS: Final = ("table", "json", "yaml")


def add_to(parser: argparse.ArgumentParser) -> None:
    """The options of such a command."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--kubeconfig", metavar="FILE", help="default: the cluster that kubectl talks to")
    where.add_argument(
        "--on", choices=("kind", "kubeconfig"), default="kubeconfig", help="kind: as of kind-config.yaml"
    )
    parser.add_argument("-o", "--output", choices=FORMATS, default="table", help="(default: table)")


def printed(answer: dict[str, Any], form: str, table: Callable[[dict[str, Any]], Iterator[str]]) -> str:
    """The answer in the form that was asked for."""
    if form == "json":
        return json.dumps(answer, indent=2)
    if form == "yaml":
        import yaml

        return yaml.safe_dump(answer, sort_keys=False).rstrip("\n")
    return "\n".join(table(answer))


def few(names: list[str], most: int = 3) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
