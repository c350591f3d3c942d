"""The commands of `gpuyard` in the groups in which people look for them, and what all of them have in common.

Law: whatever is wrong with a command line or an input is one line that says what to do; the exit codes are these.
"""

import argparse
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any, Final, NoReturn

from gpuyard_cli import (
    audit_command,
    bench_command,
    completion_command,
    fault_command,
    run_command,
    version_command,
)
from gpuyard_cli.advice import explain_command, simulate_command
from gpuyard_cli.capture import command as capture_command
from gpuyard_cli.replay import command as replay_command
from gpuyard_cli.replay import sweep_command
from gpuyard_cli.top import command as top_command
from gpuyard_cli.uninstall import command as uninstall_command
from gpuyard_cli.up import command as up

EXIT_CODES: Final = {
    0: "as it should be",
    1: "not as it should be: a scenario failed, not all fits, accounts differ; what is printed says which",
    2: "it cannot be said: a flag, a file or a cluster cannot be used, and one line says which and what mends it",
    130: "ended by Ctrl-C (`up`, `top` and `capture` end with 0)",
    141: "who read the output has gone",
    143: "ended by SIGTERM (`up` and `capture` end with 0)",
}
_GROUPS: Final = (
    ("See it work", (up, run_command)),
    ("Ask a cluster that runs: one of gpuyard up, of kind, of any kubeconfig",
     (top_command, explain_command, simulate_command, audit_command)),
    ("Change it", (fault_command, uninstall_command)),
    ("Compare placement policies on traces", (capture_command, replay_command, sweep_command)),
    ("This program", (bench_command, completion_command, version_command)),
)  # fmt: skip
_EXAMPLES: Final = (
    ("gpuyard demo", "one scenario of each topic, in ten seconds"),
    ("gpuyard run examples/04-gang --on steps --step", "one of them, event by event"),
    ("gpuyard up", "then, in another terminal, with the KUBECONFIG that it prints:"),
    ("kubectl apply -f examples/01-one-gpu/objects/", ""),
    ("gpuyard top", "who has which GPU"),
    ("gpuyard explain pod train-1 -n one-gpu", "why it waits, and what would help"),
)
_WIDTH: Final = 12


class Parser(argparse.ArgumentParser):
    """Says in one line what is wrong, and where to read on. Descriptions have line breaks of their own."""

    def __init__(self, **more: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **more)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


class _CommandLine(Parser):
    """`gpuyard` itself: its help is a page."""

    groups: Sequence[tuple[str, "_Shelf"]] = ()

    def format_help(self) -> str:
        return "\n".join([*_page(self.prog, self.groups), ""])


class _Shelf:
    """Takes commands as argparse does, and keeps what each is for."""

    def __init__(self, commands: Any) -> None:
        self._commands = commands
        self.uses: list[tuple[str, str]] = []

    def add_parser(self, name: str, *, help: str, **more: Any) -> argparse.ArgumentParser:
        self.uses.append((name, help))
        made: argparse.ArgumentParser = self._commands.add_parser(name, help=help, **more)
        return made

    @staticmethod
    def whole() -> argparse.ArgumentParser:
        """The command line of `gpuyard`, to which the commands belong."""
        return parser()


def parser(prog: str = "gpuyard") -> argparse.ArgumentParser:
    """The whole command line."""
    made = _CommandLine(prog=prog)
    commands = made.add_subparsers(required=True, metavar="COMMAND", parser_class=Parser)
    made.groups = [(title, _filled(_Shelf(commands), modules)) for title, modules in _GROUPS]
    return made


def _filled(shelf: _Shelf, modules: Sequence[ModuleType]) -> _Shelf:
    for module in modules:
        module.add_to(shelf)
    return shelf


def _page(prog: str, groups: Sequence[tuple[str, _Shelf]]) -> Iterator[str]:
    yield f"usage: {prog} COMMAND ..."
    yield from ["", "A GPU cluster in one Python process, and the same scheduler on your real one."]
    for title, shelf in groups:
        yield from ["", title]
        yield from (f"  {name:{_WIDTH}}{use}" for name, use in shelf.uses)
    yield from ["", "Try"]
    width = max(len(line) for line, _ in _EXAMPLES)
    yield from (f"  {line:{width}}  {f'# {use}' if use else ''}".rstrip() for line, use in _EXAMPLES)
    yield from ["", "Exit codes"]
    yield from (f"  {code:<{_WIDTH}}{meaning}" for code, meaning in EXIT_CODES.items())
    yield from [
        "",
        f"{prog} COMMAND --help says what a command can do. As a plugin: kubectl gpuyard COMMAND.",
    ]
