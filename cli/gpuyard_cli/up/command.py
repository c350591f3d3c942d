"""`gpuyard up`: a cluster for kubectl and every other client, until Ctrl-C.

Law: it ends with exit code 0 on Ctrl-C and SIGTERM at any time, and leaves nothing behind.
"""

import argparse
import asyncio
import contextlib
import gc
import signal
import sys
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from gpuyard.hardware.presets import presets
from gpuyard_cli import output
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_kube.endings import end_at_once


def add_to(commands: Any) -> None:
    """The arguments of `gpuyard up`."""
    known = "\n".join(f"  {preset.name:<10}{preset.about}" for preset in presets().values())
    parser = commands.add_parser(
        "up",
        help="start a cluster for kubectl",
        description="Start a cluster on 127.0.0.1 for kubectl and other clients; Ctrl-C ends it.",
        epilog=f"presets:\n{known}",
    )
    nodes = parser.add_mutually_exclusive_group()
    nodes.add_argument("--nodes", type=Path, metavar="FILE", help="a yard.yaml: the nodes one by one")
    nodes.add_argument(
        "--preset", action="append", metavar="NAMExCOUNT", help="such as dgx-h100x4; may come again"
    )
    nodes.add_argument("--mixed", action="store_true", help="one node of each preset")
    nodes.add_argument(
        "--import",
        dest="from_file",
        type=Path,
        metavar="FILE",
        help="nodes and pods of a cluster, PodGroups and Queues if you like: kubectl get nodes,pods -A -o yaml",
    )
    parser.add_argument(
        "--policy",
        default="pack",
        metavar="NAME",
        help="by which the extender chooses among the nodes that fit (default: %(default)s)",
    )
    parser.add_argument("--port", type=_port, default=0, help="of the API server (default: any free one)")
    parser.add_argument(
        "--kubeconfig", type=Path, metavar="FILE", help="where to write it (default: a file of its own)"
    )
    output.add_format(parser)
    parser.set_defaults(run=run)


def _port(text: str) -> int:
    from gpuyard_kube.arguments import port

    return port(text)


def run(arguments: argparse.Namespace) -> int:
    """Exit code 0 when it was ended, 1 when it could not start. InvalidInputError for what it cannot do."""
    began = time.monotonic()
    end_at_once()
    # Python would search all that is imported, which stays, again and again: a tenth of the time of the start.
    gc.set_threshold(100_000, 50, 100)
    # Imported here and below: it takes a second, in which a signal is to end the process all the same.
    from gpuyard_cli.connecting import kubeconfig
    from gpuyard_cli.up import nodes as up_nodes

    if arguments.kubeconfig is not None:
        kubeconfig.check(arguments.kubeconfig)
    up_nodes.check_policy(arguments.policy)
    chosen = up_nodes.chosen(arguments)
    from gpuyard_cli.up import session as up_session
    from gpuyard_cluster.wiring.operator import OperatorFailedError

    try:
        session = up_session.serve(chosen, arguments, began)
        asyncio.run(_until_signalled(session))
    except OSError as error:
        where = error.filename or f"--port {arguments.port}"
        raise InvalidInputError(where, "", error.strerror or str(error), "choose another") from error
    except OperatorFailedError as error:
        print(f"gpuyard: {error}", file=sys.stderr)
        return 1
    return 0


async def _until_signalled(work: Coroutine[Any, Any, None]) -> None:
    task = asyncio.ensure_future(work)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await task
