"""Requests to the page over ASGI, as a browser or a program sends them."""

import asyncio
from typing import Any, NamedTuple

from gpuyard_extender.transport.asgi import App, Message
from gpuyard_extender.web.app import create_app
from gpuyard_extender.web.ui.controls import Controls, UnwantedError
from gpuyard_extender.web.ui.routes import Page
from tests.extender.builders import Stage


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


class Hands:
    """`Controls` that write down what was asked for."""

    def __init__(self) -> None:
        self.done: list[Any] = []

    def examples(self) -> list[tuple[str, str]]:
        return [("04-gang", "Gang")]

    async def submit(self, example: str) -> None:
        if example != "04-gang":
            raise UnwantedError(f"there is no example {example}")
        self.done.append(("submit", example))

    async def withdraw(self, example: str) -> None:
        self.done.append(("withdraw", example))

    async def fault(self, node: str, gpu: int, xid: int | None) -> None:
        self.done.append((node, gpu, xid))

    async def link(self, node: str, ends: tuple[int, int], *, down: bool) -> None:
        self.done.append((node, ends, down))


def page(stage: Stage, controls: Controls | None = None) -> App:
    return create_app(stage.extender, page=Page(stage.extender, stage.clock, controls))


def ask(app: App, path: str, method: str = "GET", body: bytes = b"", **headers: str) -> Answer:
    """One request; underscores in the names of `headers` are dashes."""
    sent: list[Message] = []
    named = {"host": "127.0.0.1:8081", **{name.replace("_", "-"): value for name, value in headers.items()}}
    scope: Message = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in named.items()],
    }

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    answered = {name.decode().lower(): value.decode() for name, value in sent[0]["headers"]}
    return Answer(sent[0]["status"], answered, b"".join(found.get("body", b"") for found in sent))
