"""The API server on a socket.

Stands for the HTTP server of kube-apiserver. Law: it only moves bytes; everything happens on the event loop that
called `serve`, beside whatever else runs there, and signals are left alone.
"""

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl

from gpuyard_cluster.apiserver.auth import authorization
from gpuyard_cluster.apiserver.auth.authentication import Subject
from gpuyard_cluster.apiserver.auth.users import User
from gpuyard_cluster.apiserver.consulting import answer
from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.requests import MAX_BODY, Request, Response
from gpuyard_cluster.apiserver.server import APIServer, refusal
from gpuyard_cluster.apiserver.storage.watches import Watch, WatchEvent
from gpuyard_cluster.apiserver.wire import encoding
from gpuyard_cluster.listening import SUBJECT, Guest, listen

log = logging.getLogger("gpuyard.apiserver")

BOOKMARK_SECONDS = 50.0
"""A watch is never silent for longer, if its reader allows bookmarks: kopf reconnects after 70 s of silence."""

PATIENCE_SECONDS = 30
"""How long a reader may leave unread what was written for it."""
PORTION_BYTES = 256 * 1024
"""What is written at once: the rest waits where it is counted, not in the transport."""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Application:
    """The ASGI application around an API server."""

    server: APIServer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = await _read(scope, receive)
        if request is None:
            return
        try:
            user = self._user(request, scope)
            known = request if user is request.user else replace(request, user=user)
            response = await answer(self.server, known)
        except ApiError as error:
            response = refusal(error)
        except Exception:
            log.exception("%s %s failed", request.method, request.path)
            response = refusal(ApiError(500, "InternalError", "Internal error occurred: the log says more"))
        if response.watch is None:
            await _write(request, response, send)
        else:
            await self._stream(response, response.watch, receive, send)

    def _user(self, request: Request, scope: Scope) -> User:
        """Whose request it is. 401 for nobody."""
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        shown: Subject | None = scope.get("extensions", {}).get(SUBJECT)
        user = self.server.authentication.user(headers, shown)
        authorization.admit(user, request.path)
        return user

    async def _stream(self, response: Response, watch: Watch, receive: Receive, send: Send) -> None:
        """Write events as they come, until the watch ends or its reader goes."""
        wake = asyncio.Event()
        watch.on_event = wake.set
        reader = asyncio.create_task(_close_when_gone(watch, receive))
        try:
            await send(_head(response))
            await self._write_events(watch, wake, send)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except TimeoutError:
            log.warning("a watch was ended: its reader did not read for %d s", PATIENCE_SECONDS)
        finally:
            watch.close()
            reader.cancel()

    async def _write_events(self, watch: Watch, wake: asyncio.Event, send: Send) -> None:
        now = asyncio.get_running_loop().time
        ends, marks = now() + watch.seconds, now() + BOOKMARK_SECONDS
        while True:
            wake.clear()
            ended = watch.closed
            for lines in _portions(watch.take()):
                async with asyncio.timeout(PATIENCE_SECONDS):
                    await send({"type": "http.response.body", "body": lines, "more_body": True})
            if ended:
                return
            try:
                async with asyncio.timeout(min(ends, marks) - now()):
                    await wake.wait()
            except TimeoutError:
                watch.mark(self.server.revision)
                marks = now() + BOOKMARK_SECONDS
                if now() >= ends:
                    watch.close()


def _portions(events: Sequence[WatchEvent]) -> Iterator[bytes]:
    """The lines of some events, not too many at once."""
    lines, size = list[bytes](), 0
    for event in events:
        lines.append(event.line)
        size += len(lines[-1])
        if size >= PORTION_BYTES:
            yield b"".join(lines)
            lines, size = [], 0
    if lines:
        yield b"".join(lines)


async def _read(scope: Scope, receive: Receive) -> Request | None:
    """The request; None when its client left before it was whole: a DELETE must not lose its preconditions."""
    chunks, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        chunk = message.get("body", b"")
        if size <= MAX_BODY:  # beyond it, the size alone decides the answer
            chunks.append(chunk)
        size, more = size + len(chunk), message.get("more_body", False)
    return Request(
        method=scope["method"],
        path=scope["path"],
        query=_query(scope["query_string"]),
        headers={name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]},
        body=b"".join(chunks),
    )


def _query(text: bytes) -> dict[str, str]:
    """The parameters; of one that comes twice the first counts."""
    return dict(reversed(parse_qsl(text.decode("latin-1"), keep_blank_values=True))) if text else {}


async def _write(request: Request, response: Response, send: Send) -> None:
    body, extra = response.body, list[tuple[bytes, bytes]]()
    packed = encoding.compressed(body, request.headers.get("accept-encoding", ""))
    if packed is not None:
        body, extra = packed, [(b"content-encoding", b"gzip"), (b"vary", b"accept-encoding")]
    await send(_head(response, *extra, (b"content-length", str(len(body)).encode())))
    await send({"type": "http.response.body", "body": body})


def _head(response: Response, *extra: tuple[bytes, bytes]) -> dict[str, Any]:
    headers = [(name.encode("latin-1"), value.encode("utf-8")) for name, value in response.headers]
    return {"type": "http.response.start", "status": response.status, "headers": [*headers, *extra]}


async def _close_when_gone(watch: Watch, receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    watch.close()


class Listener:
    """An API server that listens at `url` until it is closed."""

    def __init__(self, server: APIServer, guest: Guest) -> None:
        self.url = guest.url
        self._server, self._guest = server, guest

    async def close(self) -> None:
        """End all watches and stop listening."""
        self._server.close()
        await self._guest.close()


async def serve(
    server: APIServer, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
) -> Listener:
    """Listen on the running event loop; port 0 chooses a free one. OSError when the address cannot be had."""
    return Listener(server, await listen(Application(server), "apiserver", host, port, tls))
