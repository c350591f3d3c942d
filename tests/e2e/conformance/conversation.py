"""A conversation with an API server, and the record of it.

The same check talks to the embedded server and to kube-apiserver; what it hears must be the same. Each check has a
namespace and an API group of its own, and leaves nothing behind.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import yaml

from gpuyard_kube.servers import Server
from tests.e2e.conformance.masking import Mask

JSON = dict[str, Any]
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"


def path_of(api: str) -> str:
    """Below which path an API version has its resources."""
    return f"/apis/{api}" if "/" in api else f"/api/{api}"


@dataclass(frozen=True)
class Heard:
    """One answer: its status, and its body (text where it is no JSON)."""

    status: int
    body: Any
    headers: JSON = field(default_factory=dict)


class Conversation:
    """Requests of one check; each is recorded with its masked answer."""

    def __init__(self, session: aiohttp.ClientSession, server: Server, name: str) -> None:
        self._session, self._server = session, server
        self.namespace, self.group = f"conformance-{name}", f"{name}.conformance.example.com"
        self.record: list[JSON] = []
        self._mask = Mask({self.group: "<group>", self.namespace: "<namespace>"})

    def at(self, plural: str, *rest: str, api: str = "v1") -> str:
        """The path of a namespaced resource, or of what is below one."""
        return "/".join([path_of(api), "namespaces", self.namespace, plural, *rest])

    async def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        kind: str = "application/json",
        accept: str = "application/json",
        **query: str,
    ) -> Heard:
        """One request, not recorded. A query parameter that is a Python word gets an underscore behind it."""
        sent = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        headers = {"Accept": accept, "User-Agent": "conformance/1"}
        if sent is not None:
            headers["Content-Type"] = kind
        params = {name.rstrip("_"): value for name, value in query.items()}
        url = self._server.url + path
        async with self._session.request(method, url, data=sent, headers=headers, params=params) as response:
            text = await response.text()
        found: Any = text
        with contextlib.suppress(ValueError):
            found = json.loads(text)
        return Heard(response.status, found, dict(response.headers))

    async def say(self, method: str, path: str, body: Any = None, **more: Any) -> Heard:
        """One request that is recorded."""
        heard = await self.ask(method, path, body, **more)
        warned = sorted(value for key, value in heard.headers.items() if key.lower() == "warning")
        entry: JSON = {"asked": self._mask.masked(f"{method} {path}"), "status": heard.status}
        entry["heard"] = self._mask.masked(heard.body)
        if warned:
            entry["warnings"] = len(warned)
        self.record.append(entry)
        return heard

    def note(self, *values: Any) -> None:
        """Record something that was found in answers which are not recorded."""
        self.record.append({"noted": self._mask.masked(list(values))})

    def judged(self, asked: Any, heard: Heard) -> None:
        """Record whether something was taken, and which fields are at fault."""
        found = (heard.body.get("details") or {}).get("causes") or []
        causes = {f"{cause.get('field')}: {cause.get('reason')}" for cause in found}
        self.note(asked, heard.status, heard.body.get("reason"), sorted(causes))

    async def get(self, path: str, **more: Any) -> Heard:
        return await self.say("GET", path, **more)

    async def post(self, path: str, body: Any, **more: Any) -> Heard:
        return await self.say("POST", path, body, **more)

    async def put(self, path: str, body: Any, **more: Any) -> Heard:
        return await self.say("PUT", path, body, **more)

    async def delete(self, path: str, body: Any = None, **more: Any) -> Heard:
        return await self.say("DELETE", path, body, **more)

    async def patch(self, path: str, body: Any, kind: str = MERGE, **more: Any) -> Heard:
        return await self.say("PATCH", path, body, kind=kind, **more)

    async def apply(self, path: str, body: JSON, manager: str = "a", **more: Any) -> Heard:
        return await self.patch(path, body, APPLY, fieldManager=manager, **more)

    async def watch(self, path: str, count: int, **query: str) -> list[JSON]:
        """The first `count` events of a watch, recorded; fewer if it ends."""
        url, events = self._server.url + path, list[JSON]()
        params = {"watch": "true", "timeoutSeconds": "20", **query}
        async with self._session.get(url, params=params) as response:
            if response.status != 200:
                self.record.append({"watched": self._mask.masked(path), "status": response.status})
                return events
            async for line in response.content:
                events.append(json.loads(line))
                if len(events) == count:
                    break
        self.record.append({"watched": self._mask.masked(path), "events": self._mask.masked(events)})
        return events

    async def until(self, met: Callable[[], Awaitable[bool]], what: str) -> None:
        """Ask again and again until something holds that the server does in its own time."""
        async with asyncio.timeout(30):
            while not await met():
                await asyncio.sleep(0.05)


def asked(area: str) -> dict[str, Any]:
    """What the checks of an area try, row by row."""
    found: dict[str, Any] = yaml.safe_load((Path(__file__).parent / f"asked/{area}.yaml").read_text())
    return found


Check = Callable[[Conversation], Awaitable[None]]
CHECKS: dict[str, Check] = {}
"""By name, which says what the servers agree on."""


def check(function: Check) -> Check:
    """Mark a function as a check."""
    CHECKS[function.__name__] = function  # type: ignore[attr-defined]  # only functions are marked
    return function


@asynccontextmanager
async def conversation(server: Server, name: str) -> AsyncIterator[Conversation]:
    """A conversation in a fresh namespace, which is deleted afterwards."""
    headers = await server.headers()
    connector = aiohttp.TCPConnector(ssl=server.tls or True)
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:
        talk = Conversation(session, server, name)
        path = f"/api/v1/namespaces/{talk.namespace}"

        async def fresh() -> bool:
            return (await talk.ask("GET", path)).status == 404

        await talk.ask("DELETE", path)
        await talk.until(fresh, "the namespace of an earlier run is gone")
        await talk.ask("POST", "/api/v1/namespaces", {"metadata": {"name": talk.namespace}})
        try:
            yield talk
        finally:
            await _cleared(talk)
            await talk.ask("DELETE", path)


async def _cleared(talk: Conversation) -> None:
    """Whatever a check leaves that would keep its namespace, or outlive it."""
    for plural in ("configmaps", "pods"):
        held = (await talk.ask("GET", talk.at(plural))).body.get("items") or []
        for item in held:
            if item["metadata"].get("finalizers"):
                path = talk.at(plural, item["metadata"]["name"])
                await talk.ask("PATCH", path, {"metadata": {"finalizers": None}}, MERGE)
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    await talk.ask("DELETE", f"{definitions}/widgets.{talk.group}")
