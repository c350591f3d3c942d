"""The API server over HTTP.

Stands for client-go's REST client. Requests go out raw, because typed models would be decoded and encoded for
nothing.
"""

import asyncio
import contextlib
import copy
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace

import aiohttp
import orjson

from gpuyard.narration import words_of
from gpuyard.writes import JSON, Reply, Write
from gpuyard_kube.connections import connector
from gpuyard_kube.servers import NoServerError, Server, server_of

REQUEST_SECONDS = 30
"""A request that takes longer counts as a server that cannot be reached."""


class HttpApi:
    """`gpuyard_kube.api.Api` over HTTP, on the running event loop."""

    def __init__(self, server: Server, parallel: int | None = None) -> None:
        """No more than `parallel` requests are under way at a time, each on a connection; watches are not counted."""
        self._server = server
        self._session = aiohttp.ClientSession(connector=connector(server))
        self._turns = None if parallel is None else asyncio.Semaphore(parallel)

    @classmethod
    def at(cls, url: str) -> "HttpApi":
        """An API server without authentication."""
        return cls(Server(url.rstrip("/")))

    @classmethod
    async def from_kubeconfig(cls, path: str | None = None, context: str | None = None) -> "HttpApi":
        """See `server_of`."""
        return cls(await server_of(path, context))

    @property
    def url(self) -> str:
        """Of the server, without a slash at its end."""
        return self._server.url

    def bearing(self, headers: Mapping[str, str]) -> "HttpApi":
        """The same server over the same connections, with more headers in each request; not to be closed."""
        other = copy.copy(self)
        other._server = replace(self._server, extra=headers)
        return other

    async def close(self) -> None:
        await self._session.close()

    async def send(self, write: Write) -> Reply:
        kind = write.patch.value if write.patch else "application/json"
        body = None if write.body is None else orjson.dumps(write.body)
        return await self._call(write.method, write.path, write.query, body, {"Content-Type": kind})

    async def read(self, path: str, **query: str) -> Reply:
        return await self._call("GET", path, query, None, {})

    async def watch(self, path: str, query: Mapping[str, str]) -> AsyncIterator[JSON]:
        """The events of one watch, as {"type", "object"}, until the server ends it.

        aiohttp.ClientError, TimeoutError or ConnectionError when the connection fails; an answer other than 200 is
        raised as aiohttp.ClientResponseError.
        """
        # The server ends a watch by timeoutSeconds; a connection silent for longer than its bookmarks is dead.
        patience = aiohttp.ClientTimeout(total=None, sock_connect=REQUEST_SECONDS, sock_read=90)
        try:
            proofs = await self._server.headers()
        except NoServerError as error:
            raise ConnectionError(str(error)) from error
        async with self._session.get(
            self._server.url + path, params={**query, "watch": "true"}, headers=proofs, timeout=patience
        ) as response:
            response.raise_for_status()
            async for line in _lines(response.content):
                yield orjson.loads(line)

    async def _call(
        self, method: str, path: str, query: Mapping[str, str], body: bytes | None, headers: dict[str, str]
    ) -> Reply:
        try:
            sent = {"Accept": "application/json", **headers, **await self._server.headers()}
        except NoServerError as error:
            return Reply(401, {"message": str(error)})
        url, patience = self._server.url + path, aiohttp.ClientTimeout(total=REQUEST_SECONDS)
        try:
            async with (
                self._turn(),
                self._session.request(
                    method, url, params=query, data=body, headers=sent, timeout=patience
                ) as response,
            ):
                return Reply(response.status, _decoded(await response.read()))
        except (aiohttp.ClientError, TimeoutError) as error:
            return Reply(
                503,
                {"message": f"{self._server.url} cannot be reached: {words_of(error)}"},
            )

    @contextlib.asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """TimeoutError when it does not come in as long as a request may take: then nothing was sent."""
        if self._turns is None:
            yield
            return
        async with asyncio.timeout(REQUEST_SECONDS):
            await self._turns.acquire()
        try:
            yield
        finally:
            self._turns.release()


async def _lines(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """Lines of any length: an object of a watch can be larger than aiohttp's line buffer."""
    pending: list[bytes] = []
    async for chunk in content.iter_any():
        *complete, rest = chunk.split(b"\n")
        for line in complete:
            whole = b"".join([*pending, line])
            pending.clear()
            if whole.strip():
                yield whole
        pending.append(rest)


def _decoded(body: bytes) -> JSON:
    try:
        decoded = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {"message": body.decode(errors="replace")}
    return decoded if isinstance(decoded, dict) else {"items": decoded}
