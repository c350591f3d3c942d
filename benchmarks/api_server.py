"""An API server that knows one made-up cluster and does as little as possible: list, watch, GET and bind a pod.

Beside it `POST /nothing` reads a request and answers a constant: what HTTP itself costs on this machine and day.
Run as `python -m benchmarks.api_server NODES BOUND [PORT]`; it prints its port once it listens.
"""

import asyncio
import socket
import sys
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs

import orjson
import uvicorn

from benchmarks.clusters import JSON, Cluster

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class ApiServer:
    """The ASGI application."""

    def __init__(self, cluster: Cluster) -> None:
        self._version = len(cluster.nodes) + len(cluster.pods)
        self._nodes = cluster.nodes
        self._pods = {found["metadata"]["name"]: found for found in cluster.pods}
        self._watches: set[asyncio.Queue[bytes]] = set()

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        path, body = scope["path"], await _body(receive)
        query = parse_qs(scope["query_string"].decode())
        if path == "/nothing":
            await _answer(send, b"{}")
        elif "watch" in query:
            await self._watch(path.rsplit("/", 1)[1], send, float(query.get("timeoutSeconds", ["60"])[0]))
        elif path.endswith("/binding"):
            await self._bind(orjson.loads(body), send)
        elif "/pods/" in path:
            await _answer(send, orjson.dumps(self._pods[path.rsplit("/", 1)[1]]))
        else:
            await _answer(send, self._list(path.rsplit("/", 1)[1]))

    def _list(self, resource: str) -> bytes:
        items = {"pods": list(self._pods.values()), "nodes": self._nodes}.get(resource, [])
        return orjson.dumps({"metadata": {"resourceVersion": str(self._version)}, "items": items})

    async def _watch(self, resource: str, send: Send, seconds: float) -> None:
        """Nodes and gangs never change here; a watch of pods ends with its connection or its time."""
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"\n", "more_body": True})
        events: asyncio.Queue[bytes] = asyncio.Queue()
        if resource == "pods":
            self._watches.add(events)
        try:
            async with asyncio.timeout(seconds):
                while True:
                    await send({"type": "http.response.body", "body": await events.get(), "more_body": True})
        except TimeoutError:
            await send({"type": "http.response.body"})
        finally:
            self._watches.discard(events)

    async def _bind(self, binding: JSON, send: Send) -> None:
        pod = self._pods[binding["metadata"]["name"]]
        if "nodeName" in pod["spec"]:
            await _answer(send, b'{"message":"bound already"}', 409)
            return
        self._version += 1
        pod["spec"]["nodeName"] = binding["target"]["name"]
        pod["metadata"]["resourceVersion"] = str(self._version)
        pod["metadata"].setdefault("annotations", {}).update(binding["metadata"].get("annotations") or {})
        event = orjson.dumps({"type": "MODIFIED", "object": pod}) + b"\n"
        for events in self._watches:
            events.put_nowait(event)
        await _answer(send, b"{}", 201)


async def _body(receive: Receive) -> bytes:
    parts = []
    more = True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(parts)


async def _answer(send: Send, body: bytes, status: int = 200) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def main() -> None:
    """Serve until the process is ended."""
    application = ApiServer(Cluster(*map(int, sys.argv[1:3])))
    # asyncio turns Nagle's algorithm off only where the protocol is named: each answer would wait 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", int(sys.argv[3]) if len(sys.argv) > 3 else 0))
    print(listener.getsockname()[1], flush=True)
    config = uvicorn.Config(application, lifespan="off", access_log=False, log_level="error")
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
