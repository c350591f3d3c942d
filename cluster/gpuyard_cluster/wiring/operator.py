"""The gang operator within the embedded cluster's process: a thread, because kopf ends every task of its loop."""

import asyncio
import logging
import threading
from types import TracebackType
from typing import Self

from gpuyard_cluster.wiring.parts import Options
from gpuyard_operator.main import Settings, run

log = logging.getLogger("gpuyard.operator")
logging.getLogger("kopf").setLevel(
    logging.ERROR
)  # it warns that a thread gets no signals: that is as it should be


class OperatorThread:
    """Runs within an `async with` block; entering waits until the operator knows the cluster."""

    def __init__(self, api: str, extender: str, options: Options) -> None:
        self._settings, self._narrate = Settings(extender, api=api), options.narrate
        self._stop, self._ready = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="operator", daemon=True)

    async def __aenter__(self) -> Self:
        self._thread.start()
        try:
            await asyncio.to_thread(self._ready.wait)
        except BaseException:
            await self._end()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._end()

    async def _end(self) -> None:
        self._stop.set()
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        try:
            asyncio.run(run(self._settings, self._stop, self._ready, self._narrate))
        except Exception:
            log.exception("the operator failed")
        finally:
            self._ready.set()  # also when it failed: nobody may wait for it for ever
