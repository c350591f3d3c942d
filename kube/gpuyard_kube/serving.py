"""A few pages over HTTP, beside a part's real work: whether it lives, what it measures, what it believes.

Stands for the health and metrics port of a Kubernetes component. Laws: it answers GET and changes nothing; whoever
calls can take neither much memory nor time: one request on a connection, without a body, of a bounded size, within a
bounded time, and only so many connections at once.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, Self

log = logging.getLogger("gpuyard.serving")

REQUEST_BYTES: Final = 16384
"""The most that a request line and its headers may take. Probes, scrapers and the API server send a tenth of it."""
REQUEST_SECONDS: Final = 10.0
"""How long one connection may take, from its first byte to the last of its answer."""
CONNECTIONS: Final = 32
"""Connections at one time; the next one is closed at once."""
TEXT: Final = "text/plain; charset=utf-8"
JSON_TEXT: Final = "application/json"


@dataclass(frozen=True, slots=True)
class Page:
    """One answer."""

    body: bytes
    content_type: str = TEXT
    status: int = 200


class AddressError(Exception):
    """It cannot listen there. The text is one line, for people."""


Handler = Callable[[], Awaitable[Page]]


class PageServer:
    """Serves pages by path on the running event loop, for as long as the `async with` block lasts.

    AddressError, on entering, when it cannot listen there; port 0 chooses a free one.
    """

    def __init__(self, pages: Mapping[str, Handler], host: str, port: int) -> None:
        self._pages, self._host, self._port = pages, host, port
        self._connections: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        # A limit on the reader is a limit on what a caller can make it keep.
        try:
            self._server = await asyncio.start_server(
                self._accept, self._host, self._port, limit=REQUEST_BYTES
            )
        except OSError as error:
            problem = f"cannot listen on {self._host} port {self._port}: {error.strerror or error}"
            raise AddressError(f"{problem}; choose another --host or --port") from error
        return self

    async def __aexit__(self, *_error: object) -> None:
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        host, port = self._server.sockets[0].getsockname()[:2]
        return f"http://{host}:{port}"

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A plain function: of a coroutine asyncio would report a cancellation as an error."""
        if len(self._connections) >= CONNECTIONS:
            writer.transport.abort()
            return
        task = asyncio.create_task(self._converse(reader, writer), name="page")
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                page = await self._answer(reader)
                writer.write(_head(page) + page.body)
                await writer.drain()
                writer.close()
                await writer.wait_closed()
        except (TimeoutError, ConnectionError, asyncio.IncompleteReadError):
            pass  # The caller went away, or was too slow to be waited for.
        finally:
            writer.transport.abort()

    async def _answer(self, reader: asyncio.StreamReader) -> Page:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            return _error(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        words = head.partition(b"\r\n")[0].decode("latin-1").split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            return _error(HTTPStatus.BAD_REQUEST)
        if words[0] != "GET":
            return _error(HTTPStatus.METHOD_NOT_ALLOWED)
        handler = self._pages.get(words[1].partition("?")[0])
        if handler is None:
            return _error(HTTPStatus.NOT_FOUND)
        try:
            return await handler()
        except Exception:
            log.exception("%s failed", words[1])
            return _error(HTTPStatus.INTERNAL_SERVER_ERROR)


def _error(status: HTTPStatus) -> Page:
    return Page(f"{status.phrase}\n".encode(), status=status.value)


def _head(page: Page) -> bytes:
    lines = [
        f"HTTP/1.1 {page.status} {HTTPStatus(page.status).phrase}",
        f"Content-Type: {page.content_type}",
        f"Content-Length: {len(page.body)}",
        *(["Allow: GET"] if page.status == HTTPStatus.METHOD_NOT_ALLOWED else []),
        "Connection: close",
    ]
    return "\r\n".join([*lines, "", ""]).encode()
