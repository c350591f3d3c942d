"""An extender with the page, in a thread of its own: no cluster behind it, only the objects that a test gives it."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from gpuyard.writes import JSON
from gpuyard_cluster.clock import Steps
from gpuyard_extender.service import Extender
from gpuyard_extender.settings import Settings
from gpuyard_extender.web.app import create_app
from gpuyard_extender.web.guard import Guard, Refusal
from gpuyard_extender.web.ui.routes import Page
from gpuyard_kube.runtime import AsyncioRuntime
from tests.extender import served
from tests.extender.builders import PodServer

SECONDS = 20.0


class OneToken:
    """Knows the token `good`."""

    async def refusal(self, token: str, address: str, verb: str, path: str) -> Refusal | None:
        return None if token == "good" else (401, "this token is not known")


class Served:
    """`url` is the page's; `do` runs something where the extender lives."""

    def __init__(self, *nodes: JSON, guarded: bool = False) -> None:
        self._nodes, self._guarded = nodes, guarded
        self._loop, self._ready = asyncio.new_event_loop(), threading.Event()
        self._end = asyncio.Event()

    def do(self, work: Callable[[Extender], Any]) -> None:
        done = threading.Event()
        self._loop.call_soon_threadsafe(lambda: (work(self.extender), done.set()))
        assert done.wait(SECONDS)

    def create(self, *pods: JSON) -> None:
        self.do(lambda extender: [extender.observe("pods", "ADDED", pod) for pod in pods])

    @contextlib.contextmanager
    def running(self) -> Iterator["Served"]:
        thread = threading.Thread(target=self._loop.run_until_complete, args=(self._serve(),))
        thread.start()
        try:
            assert self._ready.wait(SECONDS)
            yield self
        finally:
            self._loop.call_soon_threadsafe(self._end.set)
            thread.join(SECONDS)
            self._loop.close()

    async def _serve(self) -> None:
        runtime = AsyncioRuntime()
        self.extender = Extender(PodServer(Steps()), runtime, Settings())
        self.extender.replace("nodes", self._nodes)
        for resource in ("pods", "reservations", "podgroups", "poddisruptionbudgets"):
            self.extender.replace(resource, [])
        page = Page(self.extender, runtime)
        app = create_app(self.extender, page=page)
        async with served.served(Guard(app, OneToken()) if self._guarded else app) as (_, port):
            self.url = f"http://127.0.0.1:{port}/ui/"
            self._ready.set()
            await self._end.wait()
            await page.close()
        await runtime.close()
