"""An extender's web server on 127.0.0.1, and certificates made as the manifests say."""

import asyncio
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from gpuyard_extender.transport.asgi import App
from gpuyard_extender.transport.certificates import Files, FreshContext
from gpuyard_extender.transport.server import Place, Server
from gpuyard_extender.web.app import create_app
from gpuyard_extender.web.guard import Guard
from tests.extender.builders import Stage, gpu_node

COMPONENT = Path(__file__).parents[2] / "manifests/components/mtls"
NAME = "gpuyard-extender.gpuyard-system.svc"
SECONDS = 20.0
"""Longer than anything here takes: a test that waits longer waits in vain."""


def make_certificates(folder: Path) -> Path:
    subprocess.run([COMPONENT / "certificates.sh", folder], check=True, timeout=60)
    return folder


def files(folder: Path) -> Files:
    return Files(folder / "extender.crt", folder / "extender.key", folder / "ca.crt")


def client(folder: Path, own: Path | None = None) -> ssl.SSLContext:
    """What a client trusts, and the folder whose scheduler's certificate it shows."""
    context = ssl.create_default_context(cafile=folder / "ca.crt")
    if own is not None:
        context.load_cert_chain(own / "scheduler.crt", own / "scheduler.key")
    return context


def application(*, certificates: bool = False) -> App:
    return Guard(create_app(Stage(gpu_node("node-1")).extender), certificates=certificates)


@asynccontextmanager
async def served(app: App, tls: FreshContext | None = None) -> AsyncIterator[tuple[Server, int]]:
    """The server, and its port."""
    server = Server(app, Place("127.0.0.1", 0, tls))
    serving = asyncio.create_task(server.serve())
    async with asyncio.timeout(SECONDS):
        while not server.started:
            await asyncio.sleep(0.01)
        try:
            yield server, server.servers[0].sockets[0].getsockname()[1]
        finally:
            server.should_exit = True
            await serving
