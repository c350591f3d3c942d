"""The web server of one extender: uvicorn, which hands the Lease back, and ends what has no end, before it stops.

Stands for the http.Server of a Kubernetes component with leader election.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import FrameType

import uvicorn

from gpuyard_extender.transport.asgi import App
from gpuyard_extender.transport.certificates import FreshContext
from gpuyard_extender.transport.connection import Connection

KEEP_ALIVE_SECONDS = 120
"""Longer than the 90 s for which Go keeps an idle connection: a POST on one that we closed would fail."""

DRAIN_SECONDS = 5
"""How long requests in flight are answered after a signal: kube-scheduler waits no longer for one. Without a limit a
client that has sent half a request would keep the process alive."""

Farewell = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Place:
    """Where to listen, and with which certificates; without any in the clear."""

    host: str
    port: int
    tls: FreshContext | None = None


class Server(uvicorn.Server):
    """Serves `app` until a signal comes, then awaits `farewell`, answering all the while, and ends.

    A second signal does not wait for it.
    """

    def __init__(self, app: App, place: Place, farewell: Farewell | None = None) -> None:
        tls = place.tls
        super().__init__(
            uvicorn.Config(
                app,
                host=place.host,
                port=place.port,
                http=Connection,
                ws="none",
                ssl_context_factory=None if tls is None else lambda *_: tls,
                proxy_headers=False,  # nobody stands before us whose word on addresses would count
                server_header=False,
                lifespan="off",
                access_log=False,
                log_config=None,
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=DRAIN_SECONDS,
            )
        )
        self._farewell = farewell

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        farewell, self._farewell = self._farewell, None
        if farewell is None:
            super().handle_exit(sig, frame)
        else:
            asyncio.get_running_loop().create_task(self._end(farewell, sig, frame), name="hand back")

    async def _end(self, farewell: Farewell, sig: int, frame: FrameType | None) -> None:
        try:
            await farewell()
        finally:
            super().handle_exit(sig, frame)
