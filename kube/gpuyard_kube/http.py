"""The API server over HTTP.

Stands for client-go's REST client. The `kubernetes` package reads kubeconfigs and service accounts; requests go out
raw, because typed models would be decoded and encoded for nothing.
"""

import copy
import os
import ssl
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import orjson
import yaml

from gpuyard.writes import JSON, Reply, Write

REQUEST_SECONDS = 30
"""A request that takes longer counts as a server that cannot be reached."""


@dataclass(frozen=True, slots=True)
class Server:
    """Where an API server is and how to prove who we are. `headers` is asked anew for each request: tokens rotate."""

    url: str
    tls: ssl.SSLContext | None = None
    configuration: Any = field(default=None, repr=False)
    extra: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Headers beside these proofs, such as what is meant for whoever stands behind the server's proxy."""

    async def headers(self) -> dict[str, str]:
        if self.configuration is None:
            return dict(self.extra)
        settings = await self.configuration.auth_settings()
        proofs = {found["key"]: found["value"] for found in settings.values() if found["in"] == "header"}
        return {**self.extra, **proofs}


class NoServerError(Exception):
    """The settings name no API server that can be used. The text is one line, for people."""


async def server_of(kubeconfig: str | None = None, context: str | None = None) -> Server:
    """The API server of a kubeconfig; without one the default kubeconfig, else the pod's service account.

    NoServerError when none of them can be used.
    """
    # Imported here: 0.2 s and 40 MB that a plain `--api URL` does not need.
    from kubernetes.aio.config import ConfigException

    named = kubeconfig or os.environ.get("KUBECONFIG") or "~/.kube/config"
    there = any(Path(path).expanduser().is_file() for path in named.split(os.pathsep) if path)
    try:
        if there:
            return await _server_of(named, context)
        if kubeconfig is None and context is None:
            return await _service_account()
    except (ConfigException, OSError, yaml.YAMLError) as error:
        raise NoServerError(" ".join(str(error).split()).rstrip(".")) from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        # The library trusts a file to have the right fields.
        raise NoServerError(f"{named}: not a kubeconfig, or not a whole one") from error
    raise NoServerError(f"{named}: there is no such file")


async def _server_of(kubeconfig: str, context: str | None) -> Server:
    from kubernetes.aio.client import Configuration
    from kubernetes.aio.config import load_kube_config

    found = Configuration()
    await load_kube_config(kubeconfig, context, client_configuration=found, persist_config=False)
    return _server(found)


async def _service_account() -> Server:
    """Of the pod that this is. NoServerError where it is none."""
    from kubernetes.aio.client import Configuration
    from kubernetes.aio.config import ConfigException, load_incluster_config

    found = Configuration()
    try:
        load_incluster_config(client_configuration=found)
    except ConfigException as error:
        where = os.environ.get("KUBECONFIG") or "~/.kube/config"
        raise NoServerError(f"{where}: there is no such file, and this is no pod of a cluster") from error
    return _server(found)


def _server(found: Any) -> Server:
    from kubernetes.aio.client.rest import RESTClientObject

    encrypted = urlsplit(found.host).scheme == "https"
    return Server(found.host.rstrip("/"), RESTClientObject(found).ssl_context if encrypted else None, found)


class HttpApi:
    """`gpuyard_kube.api.Api` over HTTP, on the running event loop."""

    def __init__(self, server: Server) -> None:
        self._server = server
        # No limit: held watches would otherwise use up the connections that writes need.
        connector = aiohttp.TCPConnector(limit=0, ssl=server.tls if server.tls is not None else True)
        self._session = aiohttp.ClientSession(connector=connector)

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

        aiohttp.ClientError or TimeoutError when the connection fails; an answer other than 200 is raised as
        aiohttp.ClientResponseError.
        """
        # The server ends a watch by timeoutSeconds; a connection silent for longer than its bookmarks is dead.
        patience = aiohttp.ClientTimeout(total=None, sock_connect=REQUEST_SECONDS, sock_read=90)
        headers = await self._server.headers()
        async with self._session.get(
            self._server.url + path, params={**query, "watch": "true"}, headers=headers, timeout=patience
        ) as response:
            response.raise_for_status()
            async for line in _lines(response.content):
                yield orjson.loads(line)

    async def _call(
        self, method: str, path: str, query: Mapping[str, str], body: bytes | None, headers: dict[str, str]
    ) -> Reply:
        sent = {"Accept": "application/json", **headers, **await self._server.headers()}
        patience = aiohttp.ClientTimeout(total=REQUEST_SECONDS)
        try:
            async with self._session.request(
                method, self._server.url + path, params=query, data=body, headers=sent, timeout=patience
            ) as response:
                return Reply(response.status, _decoded(await response.read()))
        except (aiohttp.ClientError, TimeoutError) as error:
            return Reply(
                503, {"message": f"{self._server.url} cannot be reached: {error or type(error).__name__}"}
            )


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
