"""`gpuyard top`: who has which GPU, as it changes."""

import argparse
import asyncio
import dataclasses
import shutil
import sys
from typing import TYPE_CHECKING, Any, Final

from gpuyard_cli import output
from gpuyard_cli.inputs import InvalidInputError

if TYPE_CHECKING:
    from gpuyard_cli.top.reading import Followed
    from gpuyard_cli.top.rows import View
    from gpuyard_kube.http import HttpApi

_DESCRIPTION: Final = """\
Show for every node and GPU who has it, its shares or MIG slices, its health, where it hangs and what is free. In a
terminal the table changes with the cluster, until q or Ctrl-C; where not all GPUs fit there is a line for each node,
or for all nodes that look alike. In a pipe it is printed once. Changes nothing; needs list and watch on nodes and
pods. Exit code 0: shown; 2: there is no such node, or nobody can be asked.

SLICES has a sign for each memory slice of a GPU that can be divided: # a pod has it, - it belongs to an instance that
nobody has, . it belongs to none. A device is `planned` until the kubelet says who has it."""


def add_to(commands: Any) -> None:
    """Add the command to those of `gpuyard`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "top", help="who has which GPU, as it changes", description=_DESCRIPTION
    )
    parser.add_argument("--node", metavar="NAME", help="only this node")
    parser.add_argument("--once", action="store_true", help="print the table once, with all GPUs")
    output.add_to(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    asyncio.run(_top(arguments))
    return 0


async def _top(arguments: argparse.Namespace) -> None:
    # Imported here, as everything that takes long: a signal may come meanwhile.
    from gpuyard_cli.backends.kind import connected
    from gpuyard_cli.backends.running import CONTEXTS
    from gpuyard_cli.top.json import to_json
    from gpuyard_cli.top.live import follow
    from gpuyard_cli.top.table import lines

    terminal = sys.stdout.isatty()
    async with connected(arguments.kubeconfig, CONTEXTS[arguments.on]) as api:
        followed = await look(api)
        first = seen(followed, arguments.node)
        if terminal and arguments.output == "table" and not arguments.once:
            await follow(api, followed, lambda *room: lines(shown(followed, arguments.node), *room))
            return
    width = shutil.get_terminal_size().columns if terminal else None
    print(output.printed(to_json(first), arguments.output, lambda _: iter(lines(first, width))))


async def look(api: "HttpApi") -> "Followed":
    """The cluster of this moment. InvalidInputError where it may not be listed."""
    from gpuyard_cli.top.reading import Followed
    from gpuyard_cli.top.watched import PATHS, listed

    followed = Followed()
    for resource, path in PATHS.items():
        found = await listed(api, path)
        followed.replace(resource, found.get("items") or [])
    return followed


def seen(followed: "Followed", node: str | None = None) -> "View":
    """All nodes, or one. InvalidInputError: there is none of that name."""
    if node is not None and node not in followed.nodes:
        raise InvalidInputError("--node", "", f"there is no node {node}", "see kubectl get nodes")
    return shown(followed, node)


def shown(followed: "Followed", node: str | None) -> "View":
    """All nodes, or one, if it is still there."""
    from gpuyard_cli.top.rows import view

    found = view(followed.nodes.values(), followed.pods.values(), len(followed.unreadable))
    if node is None:
        return found
    return dataclasses.replace(found, nodes=tuple(row for row in found.nodes if row.name == node))
