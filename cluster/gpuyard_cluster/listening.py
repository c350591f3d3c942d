"""HTTP servers as guests on a loop where much else runs: they touch no signal, and say when they listen."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Iterator
from typing import Any, Final

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from gpuyard_cluster.apiserver.auth.authentication import Subject

SUBJECT: Final = "gpuyard.subject"
"""In a scope's `extensions`: whom the client's certificate names, where it showed one that holds."""


FAREWELL_SECONDS: Final = 0.1
"""At the end, for the last bytes of an answer."""
MAX_HEAD: Final = 1024 * 1024
"""Bytes before the body of a request, kube-apiserver's limit."""
_REFUSAL_SECONDS = 0.5
"""How long more of a refused request is read and dropped: closing at once would take back the answer, too."""
_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-type: text/plain; charset=utf-8\r\nconnection: close\r\n\r\n431 Request Header Fields Too Large"
)


class _Connection(HttpToolsProtocol):
    """uvicorn's, which tells an application nothing of certificates and takes headers without end.

    At the end it does not wait for a client to say goodbye: TLS would, and an idle client never does.
    """

    _subject: Subject | None = None
    _ending = _refused = _in_body = False
    _head = 0

    def data_received(self, data: bytes) -> None:
        if not self._in_body:
            self._head += len(data)
        if self._head > MAX_HEAD and not self._refused:
            self._refused = True
            self.transport.write(_TOO_LARGE)
            self.loop.call_later(_REFUSAL_SECONDS, self.transport.close)
        if not self._refused:
            super().data_received(data)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        encrypted = transport.get_extra_info("ssl_object")
        shown = encrypted.getpeercert() if encrypted is not None else None
        self._subject = _subject(shown) if shown else None

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._subject is not None:
            extensions: dict[str, Any] = {SUBJECT: self._subject}
            self.scope["extensions"] = extensions

    def on_headers_complete(self) -> None:
        self._in_body, self._head = True, 0
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_body = False
        super().on_message_complete()

    def _unsupported_upgrade_warning(self) -> None:
        """It would advise to install what does not help; the answer says that the request is not served."""

    def shutdown(self) -> None:
        self._ending = True
        super().shutdown()
        if self.transport.is_closing():
            self.transport.abort()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._ending:
            self.loop.call_later(FAREWELL_SECONDS, self.transport.abort)


def _subject(certificate: dict[str, Any]) -> Subject:
    """Whom a verified certificate names, from what `SSLSocket.getpeercert` tells of it."""
    parts = [pair for part in certificate.get("subject", ()) for pair in part]
    organizations = tuple(value for key, value in parts if key == "organizationName")
    return Subject(next((value for key, value in parts if key == "commonName"), ""), organizations)


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
        self.url = f"{'https' if transport.config.is_ssl else 'http'}://{host}:{port}"
        self._transport = transport
        self._running = asyncio.create_task(transport.serve([listening]), name=name)

    async def close(self) -> None:
        """Stop listening; requests in flight get a second to end."""
        self._transport.should_exit = True
        await self._running


async def listen(
    application: Any,
    name: str,
    host: str = "127.0.0.1",
    port: int = 0,
    tls: ssl.SSLContext | None = None,
) -> Guest:
    """Serve on the running event loop; port 0 chooses a free one. OSError when the address cannot be had."""
    listening = socket.create_server((host, port))
    # Accepted connections inherit it. asyncio sets it only where a socket names TCP as its protocol, which this one
    # does not; without it head and body of an answer wait for each other's acknowledgement, 40 ms each time.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    config = uvicorn.Config(
        application,
        http=_Connection,
        ssl_context_factory=None if tls is None else lambda *_: tls,
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
