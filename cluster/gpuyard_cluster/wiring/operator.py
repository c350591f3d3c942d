"""The gang operator within the embedded cluster's process: a thread, because kopf ends every task of its loop."""

import asyncio
import logging
import sys
import threading
from collections.abc import Callable, Coroutine
from typing import Any

from gpuyard_cluster.wiring.parts import Options
from gpuyard_kube.servers import Server
from gpuyard_operator.settings import Settings

log = logging.getLogger("gpuyard.operator")
logging.getLogger("kopf").setLevel(
    logging.ERROR
)  # it warns that a thread gets no signals: that is as it should be

Run = Callable[..., Coroutine[Any, Any, None]]


class OperatorFailedError(Exception):
    """The operator could not start; the cause says why."""


class OperatorThread:
    """Starts at once, beside whatever else starts; `ready` and `end` wait for it."""

    def __init__(self, api: Server, extender: str, options: Options) -> None:
        self._settings, self._narrate = Settings(extender, server=api), options.narrate
        self._stop, self._ready = threading.Event(), threading.Event()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="operator", daemon=True)
        self._thread.start()

    async def ready(self) -> None:
        """Wait until the operator knows the cluster. OperatorFailedError when it ends before that."""
        await asyncio.to_thread(self._ready.wait)
        if self._failure is not None:
            raise OperatorFailedError(f"the operator could not start: {self._failure}") from self._failure

    async def end(self) -> None:
        self._stop.set()
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        try:
            asyncio.run(_imported()(self._settings, self._stop, self._ready, self._narrate))
        except Exception as error:
            if self._ready.is_set():
                log.exception("the operator failed")
            self._failure = error
        finally:
            self._ready.set()  # also when it failed: nobody may wait for it for ever


def _imported() -> Run:
    """The operator's `run`, without the package `kubernetes`.

    Kopf imports all of that where it is installed, to know its models when it meets them: here it never does, and
    0.3 s and 40 MB are saved.
    """
    unknown = "kubernetes" not in sys.modules
    if unknown:
        sys.modules["kubernetes"] = None  # type: ignore[assignment] # the import system's word for "there is none"
    try:
        from gpuyard_operator.main import run
    finally:
        if unknown:
            del sys.modules["kubernetes"]
    return run
