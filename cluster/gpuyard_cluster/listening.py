"""HTTP servers as guests on a loop where much else runs: they touch no signal, and say when they listen."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from typing import Any

import uvicorn


class _Uvicorn(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()


class Guest:
    """An ASGI application that is served at `url` until it is closed."""

    def __init__(self, transport: _Uvicorn, listening: socket.socket, name: str) -> None:
        host, port = listening.getsockname()[:2]
        self.url = f"http://{host}:{port}"
        self._transport = transport
        self._running = asyncio.create_task(transport.serve([listening]), name=name)

    async def close(self) -> None:
        """Stop listening; requests in flight get a second to end."""
        self._transport.should_exit = True
        await self._running


async def listen(application: Any, name: str, host: str = "127.0.0.1", port: int = 0) -> Guest:
    """Serve on the running event loop; port 0 chooses a free one. OSError when the address cannot be had."""
    listening = socket.create_server((host, port))
    # Accepted connections inherit it. asyncio sets it only where a socket names TCP as its protocol, which this one
    # does not; without it head and body of an answer wait for each other's acknowledgement, 40 ms each time.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    config = uvicorn.Config(
        application,
        http="httptools",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=120,  # Go keeps idle connections for 90 s: a POST on one that we closed would fail
        timeout_graceful_shutdown=1,  # uvicorn waits without limit otherwise, for readers that do not read
    )
    transport = _Uvicorn(config)
    guest = Guest(transport, listening, name)
    await transport.listening.wait()
    return guest
