"""`gpuyard completion`: the script that lets a shell complete commands, options and files."""

import argparse
from pathlib import Path
from typing import Any, Final

SHELLS: Final = ("bash", "zsh", "fish")
_DESCRIPTION: Final = """\
Print the script with which a shell completes commands, options, their choices and files. Try one of
  eval "$(gpuyard completion bash)"                                         in ~/.bashrc
  gpuyard completion zsh > "${fpath[1]}/_gpuyard"                           once
  gpuyard completion fish > ~/.config/fish/completions/gpuyard.fish         once"""


def add_to(commands: Any) -> None:
    """Add the command to those of `gpuyard`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "completion", help="let your shell complete commands", description=_DESCRIPTION
    )
    parser.add_argument("shell", choices=SHELLS)
    parser.set_defaults(run=_run, whole=commands.whole)


def _run(arguments: argparse.Namespace) -> int:
    import shtab

    print(shtab.complete(_with_files(arguments.whole()), shell=arguments.shell))
    return 0


def _with_files(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """The same command line, in which shtab knows the arguments that are files or folders: those read as a Path."""
    import shtab

    for action in parser._actions:  # argparse has no other way to look; shtab itself does the same
        if isinstance(action, argparse._SubParsersAction):
            for name in action.choices:
                _with_files(action.choices[name])
        elif action.type is Path or action.dest == "kubeconfig":
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    return parser
