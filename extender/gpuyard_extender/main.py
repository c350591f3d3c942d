"""The command `gpuyard-extender`: settings are read here, once, and nowhere else."""

import argparse
import asyncio
import ipaddress
import logging
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from types import FrameType

import uvicorn
from fastapi import FastAPI

from gpuyard import reservations, scoring, vocabulary
from gpuyard.narration import Beat
from gpuyard_extender.app import create_app
from gpuyard_extender.doorkeeper import Doorkeeper
from gpuyard_extender.endpoints import Address
from gpuyard_extender.leadership import RESOURCES, FencedApi, Leadership
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
    if arguments.api:
        api = HttpApi.at(arguments.api)
    else:
        api = await HttpApi.from_kubeconfig(arguments.kubeconfig)
    try:
        await _server(arguments, api, runtime).serve()
    finally:
        await runtime.close()
        await api.close()


def _server(arguments: argparse.Namespace, api: HttpApi, runtime: AsyncioRuntime) -> "Server":
    """The server, whose extender is kept up to date already; alone, or as one of several candidates."""
    settings = Settings(arguments.policy)
    if arguments.advertise is None:
        extender = Extender(api, runtime, settings, _narrate)
        server = Server(_config(arguments, create_app(extender)))
    else:
        address = Address(str(arguments.advertise), arguments.port)
        name = f"{socket.gethostname()}_{os.getpid()}"
        leadership = Leadership(api, runtime, name, address, takes_over=not arguments.stand_by)
        extender = Extender(FencedApi(api, lambda: leadership.leading), runtime, settings, _narrate)
        server = Server(
            _config(arguments, Doorkeeper(create_app(extender), leadership)), leadership.hand_back
        )
        runtime.spawn(Informer(api, leadership, RESOURCES).run(), "leadership informer")
        runtime.spawn(leadership.run(), "leadership")
    runtime.spawn(Informer(api, extender, PATHS).run(), "informer")
    return server


def _config(arguments: argparse.Namespace, app: Doorkeeper | FastAPI) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        host=arguments.host,
        port=arguments.port,
        lifespan="off",
        access_log=False,
        log_config=None,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
    )


class Server(uvicorn.Server):
    """Uvicorn's server, which does one thing before it stops: `hand_back`. A second signal does not wait for it."""

    def __init__(
        self, config: uvicorn.Config, hand_back: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        super().__init__(config)
        self._hand_back = hand_back

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._hand_back is None:
            super().handle_exit(sig, frame)
            return
        asyncio.get_running_loop().create_task(self._end(self._hand_back, sig, frame), name="hand back")
        self._hand_back = None

    async def _end(self, hand_back: Callable[[], Awaitable[None]], sig: int, frame: FrameType | None) -> None:
        try:
            await hand_back()
        finally:
            super().handle_exit(sig, frame)


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
        "--advertise",
        metavar="IP",
        type=ipaddress.ip_address,
        help="be the active extender of the cluster, reached at this address: takes over the Lease and the Service",
    )
    parser.add_argument(
        "--stand-by", action="store_true", help="with --advertise: wait until the Lease is free instead"
    )
    parser.add_argument(
        "--policy",
        choices=sorted(scoring.POLICIES),
        default=Settings().policy,
        help="which of the nodes that fit is best (default: %(default)s)",
    )
    parser.add_argument("--log-format", choices=logs.FORMATS, default="text", help="(default: %(default)s)")
    return parser
