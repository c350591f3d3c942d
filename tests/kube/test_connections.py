"""An event loop that ends takes all its connections with it, those under TLS too."""

import asyncio
import gc
import ssl
import threading
from collections.abc import Iterator

import aiohttp
import pytest

from gpuyard_cluster.wiring.security import LockedDoor
from gpuyard_kube.connections import connector
from gpuyard_kube.runtime import AsyncioRuntime
from gpuyard_kube.servers import Server

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n"


class Watched(threading.Thread):
    """A server in a loop of its own, each of whose answers goes on for ever."""

    def __init__(self, tls: ssl.SSLContext | None) -> None:
        super().__init__()
        self._tls, self._loop, self._listening = tls, asyncio.new_event_loop(), threading.Event()
        self.port = 0
        self.start()
        self._listening.wait()

    def run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        self._end = asyncio.Event()
        async with await asyncio.start_server(self._answer, "127.0.0.1", ssl=self._tls) as server:
            self.port = server.sockets[0].getsockname()[1]
            self._listening.set()
            await self._end.wait()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(HEAD)
        await self._end.wait()
        writer.close()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self.join()


@pytest.fixture(params=["TLS", "plain"])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    door = LockedDoor(AsyncioRuntime().now()) if request.param == "TLS" else None
    watched = Watched(door.server_context() if door else None)
    scheme = "https" if door else "http"
    yield Server(f"{scheme}://127.0.0.1:{watched.port}", tls=door.client_context() if door else None)
    watched.stop()


def test_no_watch_outlives_the_loop_in_which_it_was_begun(server: Server) -> None:
    async def watch() -> None:
        async with aiohttp.ClientSession(connector=connector(server)) as session:
            for _ in range(3):
                answer = await session.get(server.url)
                await answer.content.readany()
                answer.close()

    asyncio.run(watch())
    gc.collect()  # pytest fails a test in which an open socket is collected
