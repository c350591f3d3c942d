"""The command `gpuyard-extender`: one extender alone, or one of several of which one leads."""

import asyncio
import gc
import ipaddress
import logging
import os
import signal
import socket
import sys
from functools import partial

from gpuyard.narration import Beat
from gpuyard_extender import settings
from gpuyard_extender.leadership.endpoints import Address
from gpuyard_extender.leadership.leadership import RESOURCES, Leadership
from gpuyard_extender.ledger.ledger import PATHS
from gpuyard_extender.reporting.decision_log import DecisionLog, sink
from gpuyard_extender.service import Extender
from gpuyard_extender.settings import Settings
from gpuyard_extender.transport.asgi import App
from gpuyard_extender.transport.certificates import CertificateError, FreshContext
from gpuyard_extender.transport.server import Place, Server
from gpuyard_extender.web.app import create_app
from gpuyard_extender.web.doorkeeper import Doorkeeper
from gpuyard_extender.web.guard import Guard
from gpuyard_extender.web.metrics import Metrics
from gpuyard_extender.web.reviews import Reviews
from gpuyard_extender.web.ui.routes import Page
from gpuyard_kube import arguments, descriptors, logs
from gpuyard_kube.http import HttpApi
from gpuyard_kube.informer import Informer
from gpuyard_kube.runtime import AsyncioRuntime
from gpuyard_kube.servers import NoServerError

log = logging.getLogger("gpuyard.extender")


def main() -> None:
    """Run until SIGTERM or SIGINT; Binds in flight are answered first."""
    given = settings.read()
    logs.configure(given.log_format)
    descriptors.allow_all()  # kube-scheduler has one for each Bind, and those of a whole gang may be held
    for number in (signal.SIGTERM, signal.SIGINT):
        # uvicorn catches the signal, drains, and then raises it anew: here it ends the process without a fuss.
        signal.signal(number, lambda *_: sys.exit(0))
    # Python's own thresholds search tens of thousands of objects, which all stay, again and again while they are
    # read: more than half of the time until the first answer, and later pauses of half a second.
    gc.set_threshold(100_000, 50, 100)
    # A simulation works in another thread; a verb gets its turn after half a millisecond and not after five.
    sys.setswitchinterval(0.0005)
    asyncio.run(serve(given))


async def serve(given: Settings) -> None:
    """Run the extender until the server is told to stop."""
    runtime = AsyncioRuntime()
    book = _book(given)
    api = await _connect(given)
    try:
        make = _alone if given.advertise is None else partial(_one_of_several, given.advertise)
        await make(given, api, runtime, book).serve()
    finally:
        await runtime.close()
        await api.close()
        if book is not None:
            book.close()


def _book(given: Settings) -> DecisionLog | None:
    try:
        return None if given.decisions is None else DecisionLog(sink(given.decisions))
    except OSError as error:
        settings.parser().error(
            f"--decisions {given.decisions}: {error.strerror}; name a file that can be written"
        )


def _alone(given: Settings, api: HttpApi, runtime: AsyncioRuntime, book: DecisionLog | None) -> Server:
    extender = Extender(api, runtime, given, _narrate, book)
    runtime.spawn(Informer(api, extender, PATHS).run(), "informer")
    page = Page(extender, runtime)
    app = create_app(extender, page=page)
    return Server(_guarded(app, given, api, runtime), _place(given), page.close)


def _one_of_several(
    advertised: str, given: Settings, api: HttpApi, runtime: AsyncioRuntime, book: DecisionLog | None
) -> Server:
    """All know the cluster, so that each can take over at once; the one that leads answers and writes."""
    address = Address(advertised, given.port)
    name = f"{socket.gethostname()}_{os.getpid()}"
    leadership = Leadership(api, runtime, name, address, takes_over=given.takes_over)
    extender = Extender(leadership.writing, runtime, given, _narrate, book)
    runtime.spawn(Informer(api, extender, PATHS).run(), "informer")
    runtime.spawn(Informer(api, leadership, RESOURCES).run(), "leadership informer")
    runtime.spawn(leadership.run(extender.succession.begin), "leadership")
    page = Page(extender, runtime)
    app = create_app(extender, Metrics(extender, lambda: leadership.leading), page)

    async def farewell() -> None:
        await leadership.hand_back(extender.binder.drain)
        await page.close()

    return Server(_guarded(Doorkeeper(app, leadership), given, api, runtime), _place(given), farewell)


def _guarded(app: App, given: Settings, api: HttpApi, runtime: AsyncioRuntime) -> Guard:
    """On this machine alone whoever can connect is trusted; from elsewhere a token is needed (docs/adr)."""
    reviewer = None if _is_loopback(given.host) else Reviews(api, runtime)
    return Guard(app, reviewer, certificates=bool(given.files and given.files.client_ca))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _place(given: Settings) -> Place:
    try:
        context = FreshContext.of(given.files) if given.files else None
        return Place(given.host, given.port, context)
    except CertificateError as error:
        settings.parser().error(str(error))


async def _connect(given: Settings) -> HttpApi:
    """The API server that is asked for; ends the process with a clear line when it cannot be known."""
    try:
        return HttpApi(await arguments.server(given.api, given.kubeconfig))
    except NoServerError as error:
        settings.parser().error(str(error))


def _narrate(beat: Beat) -> None:
    """Once the answer has gone out: to write a line takes a fifth of a decision in a cluster of 100 nodes."""
    asyncio.get_running_loop().call_soon(log.info, "%s", beat.text)
