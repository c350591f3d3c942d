"""One client's connection: uvicorn's, with limits, and with the certificate by which the client is known.

Stands for ReadHeaderTimeout, WriteTimeout, MaxHeaderBytes and TLS.PeerCertificates of Go's http.Server. Law: a
client that sends slowly, or without end, or reads no more, costs a connection for seconds and memory within bounds;
a request that has come in whole has all the time that its answer takes.
"""

import asyncio
import ssl
from http import HTTPStatus
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

REQUEST_SECONDS: Final = 10.0
"""From the first byte of a request to its last one: kube-scheduler gives up after 5 s."""
READ_SECONDS: Final = 60.0
"""For so long a client need not read what is there for it; then it is as good as gone."""
HEAD_BYTES: Final = 64 * 1024
"""More than any head that is sent to us. What is read in one go is looked at as a whole: 256 KiB more at most."""
REQUEST_BYTES: Final = 64 * 1024 * 1024
"""A Filter over 5,000 nodes sends 250 kB of names; whole Node objects, for a client that must, 10 kB each."""


class Connection(HttpToolsProtocol):
    """Marks each request's scope with ASGI's extension `tls`, where the client has shown a certificate that holds."""

    _deadline: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None
    _received = 0
    _in_head = False
    _certificate: str | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        encrypted = transport.get_extra_info("ssl_object")
        shown = encrypted and encrypted.getpeercert(binary_form=True)
        self._certificate = ssl.DER_cert_to_PEM_cert(shown) if shown else None
        # uvicorn sets it after an answer only: a client that never asks would stay for ever.
        self.timeout_keep_alive_task = self.loop.call_later(
            self.timeout_keep_alive, self.timeout_keep_alive_handler
        )

    def data_received(self, data: bytes) -> None:
        self._begin()
        self._received += len(data)
        super().data_received(data)
        if self._in_head and self._received > HEAD_BYTES:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        elif self._received > REQUEST_BYTES:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._begin()
        self._in_head = True
        if self._certificate is not None:
            extensions: dict[str, Any] = {"tls": {"client_cert_chain": [self._certificate]}}
            self.scope["extensions"] = extensions

    def on_headers_complete(self) -> None:
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._end()
        super().on_message_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalled = self.loop.call_later(READ_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._flows()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()
        self._flows()
        super().connection_lost(exc)

    def _begin(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(REQUEST_SECONDS, self._refuse, HTTPStatus.REQUEST_TIMEOUT)

    def _end(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline, self._received = None, 0

    def _flows(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def _refuse(self, status: HTTPStatus) -> None:
        if self.transport.is_closing():
            return
        head = f"HTTP/1.1 {status} {status.phrase}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
        self.transport.write(head.encode())
        self.transport.close()
