"""`gpuyard capture`: a running cluster as a trace."""

import argparse
import asyncio
import os
import secrets
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gpuyard_cli import output
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_cli.replay.trace_inputs import seconds, write

if TYPE_CHECKING:
    from gpuyard_cli.capture.recording import Recording
    from gpuyard_kube.http import HttpApi

_DESCRIPTION: Final = """\
Record the nodes of a cluster and what its pods ask for, until Ctrl-C, as a trace for `gpuyard replay`. Of today.csv
the nodes are in today-nodes.csv. Changes nothing; needs list and watch on nodes and pods.
Try: gpuyard capture today.csv --for 8h, then gpuyard replay today.csv --timed"""
_LOOK_SECONDS: Final = 0.1


def add_to(commands: Any) -> None:
    """Add the command to those of `gpuyard`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "capture", help="record a running cluster as a trace", description=_DESCRIPTION
    )
    parser.add_argument("file", type=Path, metavar="FILE.csv", help="is written at the end")
    span = parser.add_mutually_exclusive_group()
    span.add_argument(
        "--for",
        dest="span",
        type=seconds,
        metavar="DURATION",
        help="such as 90s, 15m, 8h (default: until Ctrl-C)",
    )
    span.add_argument(
        "--decisions",
        type=Path,
        metavar="FILE",
        help="record nothing: what is there now, and the pods that this log of gpuyard-extender tells of",
    )
    parser.add_argument(
        "--hash-names", action="store_true", help="no name of a node, pod, namespace or gang in the files"
    )
    output.add_kubeconfig(parser)
    output.add_format(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from gpuyard_cli.capture import decisions as capture_decisions
    from gpuyard_cli.capture import trace as capture_trace
    from gpuyard_kube.runtime import AsyncioRuntime
    from gpuyard_replay.sources import beside

    if not arguments.file.parent.is_dir():
        raise InvalidInputError(
            arguments.file, "", "there is no such folder", "name a file in one that is there"
        )
    if arguments.file.is_dir() or not os.access(arguments.file.parent, os.W_OK):
        raise InvalidInputError(arguments.file, "", "no file can be written there", "name another one")
    if arguments.decisions and not arguments.decisions.exists():
        raise InvalidInputError(arguments.decisions, "", "there is no such file", "name a log of decisions")
    span = 0 if arguments.decisions else arguments.span
    recording = asyncio.run(_recorded(arguments.kubeconfig, span))
    if arguments.decisions:
        capture_decisions.add(recording, arguments.decisions)
    names = capture_trace.hashed(secrets.token_bytes(32)) if arguments.hash_names else str
    nodes = beside(arguments.file)
    write(nodes, capture_trace.nodes_csv(recording, names))
    write(arguments.file, capture_trace.pods_csv(recording, int(AsyncioRuntime().now()), names))
    answer = {
        "files": [str(arguments.file), str(nodes)],
        "nodes": len(recording.nodes),
        "pods": len(recording.pods),
        "notes": recording.notes.lines(),
    }
    print(output.printed(answer, arguments.output, _table))
    return 0


def _table(answer: dict[str, Any]) -> Iterator[str]:
    yield f"{answer['nodes']} nodes, {answer['pods']} pods"
    yield from (f"note: {line}" for line in answer["notes"])


async def _recorded(kubeconfig: str | None, span: int | None) -> "Recording":
    from gpuyard_cli.backends.kind import connected

    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with connected(kubeconfig) as api:
        return await record(api, ended, span)


async def record(api: "HttpApi", ended: asyncio.Event, span: int | None) -> "Recording":
    """Everything until `ended`, or for `span` seconds. InvalidInputError where it may not be listed."""
    from gpuyard_cli.capture.recording import Recording
    from gpuyard_cli.top.watched import PATHS, listed
    from gpuyard_kube.informer import Informer
    from gpuyard_kube.runtime import AsyncioRuntime

    for path in PATHS.values():
        await listed(api, path, limit="1")
    recording = Recording(AsyncioRuntime().now)
    informer = asyncio.create_task(Informer(api, recording, PATHS).run())
    try:
        while recording.listed != PATHS.keys() and not (ended.is_set() or informer.done()):
            await asyncio.sleep(_LOOK_SECONDS)
        if span != 0:
            print("recording; Ctrl-C ends", file=sys.stderr, flush=True)
        over = asyncio.create_task(ended.wait())
        await asyncio.wait({over, informer}, timeout=span, return_when=asyncio.FIRST_COMPLETED)
        over.cancel()
    finally:
        informer.cancel()
        await asyncio.gather(informer, return_exceptions=True)
    return recording
