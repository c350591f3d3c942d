"""The command `gpuyard-extender`: settings are read here, once, and nowhere else."""

import argparse
import asyncio
import gc
import ipaddress
import logging
import os
import signal
import socket
import sys
from pathlib import Path

from gpuyard.narration import Beat
from gpuyard.policies import registry
from gpuyard_extender.app import create_app
from gpuyard_extender.asgi import App
from gpuyard_extender.certificates import CertificateError, Files, FreshContext
from gpuyard_extender.decision_log import DecisionLog, sink
from gpuyard_extender.doorkeeper import Doorkeeper
from gpuyard_extender.endpoints import Address
from gpuyard_extender.guard import Guard
from gpuyard_extender.leadership import RESOURCES, FencedApi, Leadership
from gpuyard_extender.ledger import PATHS
from gpuyard_extender.metrics import Metrics
from gpuyard_extender.reviews import Reviews
from gpuyard_extender.server import Place, Server
from gpuyard_extender.service import Extender
from gpuyard_extender.settings import Settings
from gpuyard_extender.ui.routes import Page
from gpuyard_kube import arguments, logs
from gpuyard_kube.http import HttpApi, NoServerError
from gpuyard_kube.informer import Informer
from gpuyard_kube.runtime import AsyncioRuntime

log = logging.getLogger("gpuyard.extender")


def main() -> None:
    """Run until SIGTERM or SIGINT; Binds in flight are answered first."""
    given = _parser().parse_args()
    _check(given)
    logs.configure(given.log_format)
    for number in (signal.SIGTERM, signal.SIGINT):
        # uvicorn catches the signal, drains, and then raises it anew: here it ends the process without a fuss.
        signal.signal(number, lambda *_: sys.exit(0))
    # Python's own thresholds search tens of thousands of objects, which all stay, again and again while they are
    # read: more than half of the time until the first answer, and later pauses of half a second.
    gc.set_threshold(100_000, 50, 100)
    # A simulation works in another thread; a verb gets its turn after half a millisecond and not after five.
    sys.setswitchinterval(0.0005)
    asyncio.run(serve(given))


async def serve(given: argparse.Namespace) -> None:
    """Run the extender until the server is told to stop."""
    runtime = AsyncioRuntime()
    book = _book(given)
    api = await _connect(given)
    try:
        server = _one_of_several if given.advertise else _alone
        await server(given, api, runtime, book).serve()
    finally:
        await runtime.close()
        await api.close()
        if book is not None:
            book.close()


def _book(given: argparse.Namespace) -> DecisionLog | None:
    try:
        return None if given.decisions is None else DecisionLog(sink(given.decisions))
    except OSError as error:
        _parser().error(f"--decisions {given.decisions}: {error.strerror}; name a file that can be written")


def _alone(
    given: argparse.Namespace, api: HttpApi, runtime: AsyncioRuntime, book: DecisionLog | None
) -> Server:
    extender = Extender(api, runtime, Settings(given.policy), _narrate, book)
    runtime.spawn(Informer(api, extender, PATHS).run(), "informer")
    page = Page(extender, runtime)
    app = create_app(extender, page=page)
    return Server(_guarded(app, given, api, runtime), _place(given), page.close)


def _one_of_several(
    given: argparse.Namespace, api: HttpApi, runtime: AsyncioRuntime, book: DecisionLog | None
) -> Server:
    """All know the cluster, so that each can take over at once; the one that leads answers and writes."""
    address = Address(str(given.advertise), given.port)
    name = f"{socket.gethostname()}_{os.getpid()}"
    leadership = Leadership(api, runtime, name, address, takes_over=not given.stand_by)
    fenced = FencedApi(api, lambda: leadership.leading)
    extender = Extender(fenced, runtime, Settings(given.policy), _narrate, book)
    runtime.spawn(Informer(api, extender, PATHS).run(), "informer")
    runtime.spawn(Informer(api, leadership, RESOURCES).run(), "leadership informer")
    runtime.spawn(leadership.run(), "leadership")
    page = Page(extender, runtime)
    app = create_app(extender, Metrics(extender, lambda: leadership.leading), page)

    async def farewell() -> None:
        await leadership.hand_back()
        await page.close()

    return Server(_guarded(Doorkeeper(app, leadership), given, api, runtime), _place(given), farewell)


def _guarded(app: App, given: argparse.Namespace, api: HttpApi, runtime: AsyncioRuntime) -> Guard:
    """On this machine alone whoever can connect is trusted; from elsewhere a token is needed (docs/adr)."""
    reviewer = None if _is_loopback(given.host) else Reviews(api, runtime)
    return Guard(app, reviewer, certificates=given.client_ca is not None)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _place(given: argparse.Namespace) -> Place:
    if given.tls_cert is None:
        return Place(given.host, given.port)
    try:
        files = Files(given.tls_cert, given.tls_key, given.client_ca)
        return Place(given.host, given.port, FreshContext.of(files))
    except CertificateError as error:
        _parser().error(str(error))


def _check(given: argparse.Namespace) -> None:
    """End with a clear line when the arguments do not go together."""
    if given.stand_by and not given.advertise:
        _parser().error("--stand-by waits for a Lease, which needs an address: add --advertise IP")
    if (given.tls_cert is None) != (given.tls_key is None):
        _parser().error("a certificate is of no use without its key: give both --tls-cert and --tls-key")
    if given.client_ca and not given.tls_cert:
        _parser().error("--client-ca checks certificates, which needs TLS: add --tls-cert and --tls-key")


async def _connect(given: argparse.Namespace) -> HttpApi:
    """The API server that is asked for; ends the process with a clear line when it cannot be known."""
    try:
        return HttpApi(await arguments.server(given.api, given.kubeconfig))
    except NoServerError as error:
        _parser().error(str(error))


def _narrate(beat: Beat) -> None:
    log.info("%s", beat.text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gpuyard-extender",
        description="Scheduler extender for GPUs: filter, prioritize, bind, gang plans, explain.",
    )
    arguments.add_server(parser)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument(
        "--port", type=arguments.port, default=8081, help="0: any free port (default: %(default)s)"
    )
    parser.add_argument(
        "--advertise",
        metavar="IP",
        type=ipaddress.ip_address,
        help="be the cluster's active extender, reached at this address: takes over Lease and EndpointSlice",
    )
    parser.add_argument(
        "--stand-by", action="store_true", help="with --advertise: wait until the Lease is free instead"
    )
    parser.add_argument("--tls-cert", metavar="FILE", type=Path, help="serve TLS with this certificate (PEM)")
    parser.add_argument("--tls-key", metavar="FILE", type=Path, help="the key of --tls-cert")
    parser.add_argument(
        "--client-ca",
        metavar="FILE",
        type=Path,
        help="answer the verbs only to clients with a certificate of this authority",
    )
    parser.add_argument(
        "--policy",
        choices=registry.names(),
        default=Settings().policy,
        help="which of the nodes that fit is best (default: %(default)s)",
    )
    parser.add_argument(
        "--decisions",
        metavar="FILE",
        help="note every decision there, a JSON line each (docs/decisions.md); - for standard output",
    )
    parser.add_argument("--log-format", choices=logs.FORMATS, default="text", help="(default: %(default)s)")
    return parser
