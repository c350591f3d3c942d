"""The gang operator as a process, and as a thread of the embedded cluster.

Stands for a controller manager's main: flags, leader election, run until told to stop.
"""

import asyncio
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any

import kopf

from gpuyard import vocabulary
from gpuyard.narration import Beat, Narrator
from gpuyard_kube import arguments
from gpuyard_kube.election import Candidate, give_back, keep, lead
from gpuyard_kube.fences import FencedApi
from gpuyard_kube.http import HttpApi
from gpuyard_kube.informer import Informer
from gpuyard_kube.recording import Recorder
from gpuyard_kube.runtime import AsyncioRuntime
from gpuyard_kube.servers import NoServerError
from gpuyard_kube.serving import AddressError, PageServer
from gpuyard_operator import handlers, settings
from gpuyard_operator.cache import CROWDS
from gpuyard_operator.checking import Checks
from gpuyard_operator.metrics import Metrics
from gpuyard_operator.planner import HttpPlanner
from gpuyard_operator.service import Operator
from gpuyard_operator.settings import Settings

END_SECONDS = 0.5
"""What kopf gets to end in: stopped while it looks around for the first time, it would wait 5 s for its own tasks."""

PARALLEL = 64
"""So many requests at a time: at a start thousands of groups are told something, else each on its own connection."""

log = logging.getLogger("gpuyard.operator")


async def run(
    given: Settings,
    stop: threading.Event,
    ready: threading.Event,
    narrate: Narrator,
    metrics: Metrics | None = None,
) -> None:
    """Operate until `stop` is set; `ready` is set when everything was listed and is being watched.

    Needs an event loop of its own: kopf cancels every task of the loop when it ends.
    """
    server = given.server or await arguments.server(given.api, given.kubeconfig)
    api, runtime = HttpApi(server, PARALLEL), AsyncioRuntime()
    watching = HttpApi(server)  # what is new need not wait until thousands were told what was
    planner = HttpPlanner(given.extender, given.trust)
    metrics = metrics or Metrics()
    operator = Operator(api, runtime, metrics.timed(planner), narrate, preempts=given.preempts)
    sessions = handlers.Sessions(server)
    checks = Checks(operator, runtime, Recorder(api, runtime), given.lease)
    metrics.watch(operator, checks)

    async def started() -> None:
        runtime.spawn(Informer(watching, operator, CROWDS).run(), "informer")
        checks.start(ready)

    async def ending() -> None:
        stop.set()  # after a signal kopf would wait 5 s for its own task that waits for this
        operator.stop()
        await runtime.close()
        for each in (planner, watching, api):
            await each.close()

    registry = handlers.registry(operator, sessions, handlers.Hooks(started, ending))
    try:
        await _until_stopped(_events(registry, stop), stop)
    finally:
        # Again, for kopf forgets it when it is stopped while it starts. A thread of kopf waits for `stop`.
        await ending()
        await sessions.close()


def _events(registry: kopf.OperatorRegistry, stop: threading.Event) -> Coroutine[Any, Any, None]:
    """Kopf's work."""
    return kopf.operator(
        registry=registry, settings=handlers.settings(), clusterwide=True, standalone=True, stop_flag=stop
    )


async def _until_stopped(work: Coroutine[Any, Any, None], stop: threading.Event) -> None:
    """Do kopf's work; some time after `stop` was set, whether or not it is done."""
    working = asyncio.ensure_future(work)

    async def end() -> None:
        await asyncio.to_thread(stop.wait)
        # Kopf's own tasks would complain of connections that are closed under them.
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        await asyncio.wait({working}, timeout=END_SECONDS)
        working.cancel()

    # Made before kopf runs, or it would take it for one of its own that hangs.
    ending = asyncio.ensure_future(end())
    try:
        await working
    except asyncio.CancelledError:
        if not stop.is_set():
            raise
    finally:
        stop.set()
        ending.cancel()


async def serve(given: Settings, candidate: Candidate) -> bool:
    """`lead_and_run`, and over HTTP what is measured meanwhile. AddressError when it cannot listen there."""
    metrics = Metrics()
    async with PageServer(metrics.pages(), given.host, given.port) as server:
        log.info("asked at %s", server.url)
        return await lead_and_run(given, candidate, metrics)


async def lead_and_run(given: Settings, candidate: Candidate, metrics: Metrics) -> bool:
    """Wait for the Lease, then operate until told to stop (True) or the Lease is lost (False): never two at once."""
    stop, lost, runtime, ended = threading.Event(), threading.Event(), AsyncioRuntime(), False
    api = HttpApi(await arguments.server(given.api, given.kubeconfig))
    electing = FencedApi(api, runtime, lambda: not ended)
    try:
        lease = await lead(electing, runtime, candidate)
        log.info("leading as %s", candidate.identity)

        async def hold() -> None:
            await keep(electing, runtime, candidate, lease)
            if ended:
                return
            log.error("the Lease %s is lost", candidate.name)
            lost.set()
            stop.set()

        runtime.spawn(hold(), "lease")
        await run(replace(given, lease=lease), stop, threading.Event(), _log, metrics)
        ended, until = True, runtime.now() + END_SECONDS
        await electing.quiet(until)
        await give_back(api, runtime, candidate, until)
        return not lost.is_set()
    finally:
        await runtime.close()
        await api.close()


def main(argv: Sequence[str] | None = None) -> int:
    """The command `gpuyard-operator`.

    Exit code 1 when the Lease was lost: whoever started it starts it again. 2 when no API server is named.
    """
    given = settings.read(argv)
    kopf.configure(log_format=kopf.LogFormat.JSON if given.log_format == "json" else kopf.LogFormat.FULL)
    logging.getLogger("kopf.objects").setLevel(logging.WARNING)
    candidate = Candidate(given.namespace, vocabulary.OPERATOR, f"{socket.gethostname()}_{os.getpid()}")
    try:
        return asyncio.run(_until_signalled(serve(given, candidate)))
    except (NoServerError, AddressError) as error:
        settings.parser().error(str(error))


async def _until_signalled(work: Coroutine[Any, Any, bool]) -> int:
    """Exit code of the work. While it waits for the Lease signals cancel it; later kopf handles them itself."""
    task = asyncio.ensure_future(work)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    try:
        return 0 if await task else 1
    except asyncio.CancelledError:
        return 0


def _log(beat: Beat) -> None:
    log.info("%s", beat.text)


if __name__ == "__main__":
    sys.exit(main())
