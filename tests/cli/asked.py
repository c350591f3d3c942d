"""A cluster that commands can ask: a real extender without a socket, and an API server that knows its objects."""

import argparse
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import orjson

from gpuyard.groups import queues
from gpuyard.writes import JSON, Reply
from gpuyard_extender.web.app import create_app
from tests.extender.builders import Stage


class Cluster:
    """Both at once: `read` is the API server's, `ask` the extender's."""

    def __init__(self, stage: Stage, *groups: JSON) -> None:
        self.stage, self.groups = stage, {group["metadata"]["name"]: group for group in groups}
        self.queues: list[JSON] = []
        self.simulates = True
        """Whether the extender knows simulations."""

    async def read(self, path: str, **_query: str) -> Reply:
        if path == queues.PATH:
            return Reply(200, {"items": self.queues})
        name = path.rsplit("/", 1)[1]
        if name == "pods":
            return Reply(200, {"items": list(self.stage.server.pods.values())})
        found = self.groups.get(name) if "/podgroups/" in path else self.stage.server.pods.get(name)
        return Reply(200, found) if found else Reply(404, {"message": "not found"})

    async def ask(self, path: str, body: JSON | None = None) -> Reply:
        if body is not None and not self.simulates:
            return Reply(404, {"error": "Not Found"})
        sent: list[Any] = []
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "GET" if body is None else "POST",
            "path": path,
            "query_string": b"",
            "headers": [(b"content-type", b"application/json")],
        }

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": orjson.dumps(body), "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        await create_app(self.stage.extender)(scope, receive, send)
        return Reply(sent[0]["status"], orjson.loads(b"".join(m.get("body", b"") for m in sent)))


Connected = Callable[[argparse.Namespace], AbstractAsyncContextManager[tuple[Cluster, Cluster]]]


def connected(cluster: Cluster) -> Connected:
    """What stands in for `extender_access.connected`."""

    @asynccontextmanager
    async def connect(_arguments: argparse.Namespace) -> AsyncIterator[tuple[Cluster, Cluster]]:
        yield cluster, cluster

    return connect
