"""What the `gpuyard` command says, and how it ends."""

from collections.abc import Sequence

import pytest

from gpuyard_cli import commands
from gpuyard_cli.main import main


def ended(arguments: Sequence[str]) -> int:
    """The exit code; argparse ends by an exception of its own."""
    try:
        return main(arguments)
    except SystemExit as early:
        return int(early.code or 0)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line that a command which cannot do its work prints, with exit code 2."""
    code, printed = ended(arguments), capsys.readouterr()
    assert (code, printed.out, printed.err.count("\n")) == (2, "", 1), printed
    return printed.err.rstrip("\n")


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command prints that ends well."""
    code, printed = ended(arguments), capsys.readouterr()
    assert (code, printed.err) == (0, "")
    return printed.out


def subcommands() -> list[str]:
    return [name for _, shelf in commands.parser().groups for name, _ in shelf.uses]  # type: ignore[attr-defined]
