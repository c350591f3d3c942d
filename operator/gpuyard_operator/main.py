"""The gang operator as a process, and as a thread of the embedded cluster.

Stands for a controller manager's main: flags, leader election, run until told to stop.
"""

import argparse
import asyncio
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

import kopf

from gpuyard import vocabulary
from gpuyard.narration import Beat, Narrator
from gpuyard_kube import arguments
from gpuyard_kube.election import Candidate, keep, lead, leads, release
from gpuyard_kube.http import HttpApi, NoServerError
from gpuyard_kube.runtime import AsyncioRuntime
from gpuyard_operator import handlers
from gpuyard_operator.planner import HttpPlanner
from gpuyard_operator.service import Operator

RESYNC_SECONDS = 60.0
"""How often everything is listed anew: kopf does not tell what was deleted while its watch was interrupted."""
SYNC_RETRY_SECONDS = 1.0
"""How often the first lists are tried."""

log = logging.getLogger("gpuyard.operator")


@dataclass(frozen=True, slots=True)
class Settings:
    """Where the API server is (a URL, or a kubeconfig; neither: the usual places) and where the extender."""

    extender: str
    api: str | None = None
    kubeconfig: str | None = None


async def run(settings: Settings, stop: threading.Event, ready: threading.Event, narrate: Narrator) -> None:
    """Operate until `stop` is set; `ready` is set when everything was listed and is being watched.

    Needs an event loop of its own: kopf cancels every task of the loop when it ends.
    """
    server = await arguments.server(settings.api, settings.kubeconfig)
    api, planner, runtime = HttpApi(server), HttpPlanner(settings.extender), AsyncioRuntime()
    operator = Operator(api, runtime, planner, narrate)

    async def started() -> None:
        runtime.spawn(_resync(operator, runtime, ready), "resync")

    async def ending() -> None:
        stop.set()  # after a signal kopf would wait 5 s for its own task that waits for this
        operator.stop()
        await runtime.close()
        await planner.close()
        await api.close()

    try:
        await kopf.operator(
            registry=handlers.registry(operator, server, handlers.Hooks(started, ending)),
            settings=handlers.settings(),
            clusterwide=True,
            standalone=True,
            stop_flag=stop,
        )
    finally:
        stop.set()  # a thread of kopf waits for it, also when kopf failed


async def _resync(operator: Operator, runtime: AsyncioRuntime, ready: threading.Event) -> None:
    known = ""
    while True:
        problem = await operator.resync()
        if problem and problem != known:
            log.warning("%s; trying again", problem)
        elif not problem:
            ready.set()
        known = problem
        pause = RESYNC_SECONDS if ready.is_set() else SYNC_RETRY_SECONDS
        await runtime.sleep_until(runtime.now() + pause)


async def lead_and_run(settings: Settings, candidate: Candidate) -> bool:
    """Wait for the Lease, then operate until told to stop (True) or the Lease is lost (False): never two at once."""
    stop, lost, runtime = threading.Event(), threading.Event(), AsyncioRuntime()
    api = HttpApi(await arguments.server(settings.api, settings.kubeconfig))
    try:
        lease = await lead(api, runtime, candidate)
        log.info("leading as %s", candidate.identity)

        async def hold() -> None:
            await keep(api, runtime, candidate, lease)
            log.error("the Lease %s is lost", candidate.name)
            lost.set()
            stop.set()

        runtime.spawn(hold(), "lease")
        await run(settings, stop, threading.Event(), _log)
        await _give_back(api, candidate)
        return not lost.is_set()
    finally:
        await runtime.close()
        await api.close()


def main(argv: Sequence[str] | None = None) -> int:
    """The command `gpuyard-operator`.

    Exit code 1 when the Lease was lost: whoever started it starts it again. 2 when no API server is named.
    """
    options = _parser().parse_args(argv)
    kopf.configure(log_format=kopf.LogFormat.JSON if options.log_format == "json" else kopf.LogFormat.FULL)
    logging.getLogger("kopf.objects").setLevel(logging.WARNING)
    settings = Settings(options.extender, options.api, options.kubeconfig)
    candidate = Candidate(options.namespace, vocabulary.OPERATOR, f"{socket.gethostname()}_{os.getpid()}")
    try:
        return asyncio.run(_until_signalled(lead_and_run(settings, candidate)))
    except NoServerError as error:
        _parser().error(str(error))


async def _until_signalled(work: Coroutine[Any, Any, bool]) -> int:
    """Exit code of the work. While it waits for the Lease signals cancel it; later kopf handles them itself."""
    task = asyncio.ensure_future(work)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    try:
        return 0 if await task else 1
    except asyncio.CancelledError:
        return 0


async def _give_back(api: HttpApi, candidate: Candidate) -> None:
    found = await api.read(candidate.path)
    if found.ok and leads(candidate, found.body):
        await api.send(release(candidate, found.body))


def _log(beat: Beat) -> None:
    log.info("%s", beat.text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gpuyard-operator", description="Starts the pods of a PodGroup together or not at all."
    )
    arguments.add_server(parser)
    parser.add_argument(
        "--extender", metavar="URL", type=arguments.url, required=True, help="the scheduler extender"
    )
    parser.add_argument(
        "--namespace", default=vocabulary.NAMESPACE, help="where the Lease is (default: %(default)s)"
    )
    parser.add_argument(
        "--log-format", choices=("text", "json"), default="text", help="(default: %(default)s)"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
