"""The command `gpuyard-extender`: settings are read here, once, and nowhere else."""

import argparse
import asyncio
import logging
import signal
import sys

import uvicorn
import yaml

from gpuyard import reservations, scoring, vocabulary
from gpuyard.narration import Beat
from gpuyard_extender.app import create_app
from gpuyard_extender.service import Extender
from gpuyard_extender.settings import Settings
from gpuyard_kube import logs
from gpuyard_kube.http import HttpApi
from gpuyard_kube.informer import Informer
from gpuyard_kube.runtime import AsyncioRuntime

log = logging.getLogger("gpuyard.extender")

PATHS = {
    "pods": "/api/v1/pods",
    "nodes": "/api/v1/nodes",
    reservations.PLURAL: f"/apis/{vocabulary.GROUP}/{vocabulary.VERSION}/{reservations.PLURAL}",
    "podgroups": f"/apis/{vocabulary.POD_GROUP_API}/podgroups",
}

KEEP_ALIVE_SECONDS = 120
"""Longer than the 90 s for which Go keeps an idle connection: a POST on one that we closed would fail."""


def main() -> None:
    """Run until SIGTERM or SIGINT; Binds in flight are answered first."""
    arguments = _parser().parse_args()
    logs.configure(arguments.log_format)
    for number in (signal.SIGTERM, signal.SIGINT):
        # uvicorn catches the signal, drains, and then raises it anew: here it ends the process without a fuss.
        signal.signal(number, lambda *_: sys.exit(0))
    asyncio.run(serve(arguments))


async def serve(arguments: argparse.Namespace) -> None:
    """Run the extender until the server is told to stop."""
    runtime = AsyncioRuntime()
    api = await _connect(arguments)
    extender = Extender(api, runtime, Settings(arguments.policy), _narrate)
    server = uvicorn.Server(
        uvicorn.Config(
            create_app(extender),
            host=arguments.host,
            port=arguments.port,
            lifespan="off",
            access_log=False,
            log_config=None,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
        )
    )
    runtime.spawn(Informer(api, extender, PATHS).run(), "informer")
    try:
        await server.serve()
    finally:
        await runtime.close()
        await api.close()


async def _connect(arguments: argparse.Namespace) -> HttpApi:
    """The API server that is asked for; ends the process with a clear line when it cannot be known."""
    if arguments.api:
        return HttpApi.at(arguments.api)
    # Imported here: it takes 0.2 s, which `--api URL` does not need.
    from kubernetes.aio.config import ConfigException

    try:
        return await HttpApi.from_kubeconfig(arguments.kubeconfig)
    except (ConfigException, yaml.YAMLError, OSError) as error:
        problem = " ".join(str(error).split())
        _parser().error(f"no API server: {problem}; give --kubeconfig FILE or --api URL")


def _narrate(beat: Beat) -> None:
    log.info("%s", beat.text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gpuyard-extender",
        description="Scheduler extender for GPUs: filter, prioritize, bind, gang plans, explain.",
    )
    server = parser.add_mutually_exclusive_group()
    server.add_argument("--kubeconfig", help="default: the usual kubeconfig, else the pod's service account")
    server.add_argument("--api", metavar="URL", help="an API server over plain HTTP without authentication")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=8081, help="0: any free port (default: %(default)s)")
    parser.add_argument(
        "--policy",
        choices=sorted(scoring.POLICIES),
        default=Settings().policy,
        help="which of the nodes that fit is best (default: %(default)s)",
    )
    parser.add_argument("--log-format", choices=logs.FORMATS, default="text", help="(default: %(default)s)")
    return parser
