"""What commands have in common: which cluster is asked, and how the answer is printed."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final

from gpuyard.shapes import NAME
from gpuyard_cli import colours

FORMATS: Final = ("table", "json", "yaml")


def add_to(parser: argparse.ArgumentParser) -> None:
    """The options of such a command."""
    where = parser.add_mutually_exclusive_group()
    add_kubeconfig(where)
    where.add_argument(
        "--on", choices=("kind", "kubeconfig"), default="kubeconfig", help="kind: as of kind-config.yaml"
    )
    add_format(parser)


def add_kubeconfig(parser: argparse._ActionsContainer) -> None:
    """The option that says which cluster."""
    parser.add_argument("--kubeconfig", metavar="FILE", help="default: the cluster that kubectl talks to")


def add_format(parser: argparse.ArgumentParser) -> None:
    """The option of every command that has an answer."""
    parser.add_argument("-o", "--output", choices=FORMATS, default="table", help="(default: table)")


def object_name(text: str) -> str:
    """An argument that names an object: it becomes a part of a path, where anything else could lead elsewhere."""
    if not NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no name of an object; use small letters, digits, - and ."
        )
    return text


def printed(
    answer: dict[str, Any], form: str, table: Callable[[dict[str, Any]], Iterator[str]] = lambda _: iter(())
) -> str:
    """The answer in the form that was asked for."""
    if form == "json":
        return json.dumps(answer, indent=2)
    if form == "yaml":
        import yaml

        return yaml.safe_dump(answer, sort_keys=False).rstrip("\n")
    text = "\n".join(table(answer))
    return colours.answer(text) if colours.wanted(sys.stdout) else text
