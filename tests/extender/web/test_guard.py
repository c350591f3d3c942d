"""Who may ask the extender what."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest

from gpuyard_extender.transport.asgi import Message, Receive, Send, answer
from gpuyard_extender.web.guard import Guard, Refusal

CERTIFICATE = {"tls": {"client_cert_chain": ["PEM"]}}


@dataclass
class Reviewer:
    asked: list[tuple[str, str, str, str]] = field(default_factory=list)

    async def refusal(self, token: str, address: str, verb: str, path: str) -> Refusal | None:
        self.asked.append((token, address, verb, path))
        return {"good": None, "many": (429, "wait")}.get(token, (401, "who are you?"))


async def inner(scope: Message, receive: Receive, send: Send) -> None:
    await answer(send, 200, "answered")


def status(path: str, guard: Guard, method: str = "GET", **scope: Any) -> tuple[int, dict[bytes, bytes]]:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        sent.append(message)

    request = {"type": "http", "path": path, "method": method, "headers": [], **scope}
    asyncio.run(guard(request, receive, send))
    return sent[0]["status"], dict(sent[0]["headers"])


@pytest.mark.parametrize("path", ["/livez", "/readyz", "/metrics"])
def test_health_and_metrics_are_everyones(path: str) -> None:
    assert status(path, Guard(inner, Reviewer(), certificates=True))[0] == 200


@pytest.mark.parametrize("path", ["/filter", "/bind", "/preempt", "/", "/livez/", "/v1plans", "*", "//v1"])
def test_all_that_is_not_named_takes_a_certificate_where_one_is_demanded(path: str) -> None:
    demanding = Guard(inner, Reviewer(), certificates=True)
    assert status(path, demanding)[0] == 403
    assert status(path, demanding, extensions={"tls": {}})[0] == 403
    assert status(path, demanding, extensions=CERTIFICATE)[0] == 200
    assert status(path, Guard(inner, Reviewer()))[0] == 200


@pytest.mark.parametrize(
    "path", ["/v1/plans", "/v1/simulations", "/v1/openapi.json", "/v1", "/ui", "/ui/", "/ui/app.js"]
)
def test_what_is_for_people_and_the_operator_takes_a_token(path: str) -> None:
    guard = Guard(inner, Reviewer(), certificates=True)
    refused, headers = status(path, guard, extensions=CERTIFICATE)
    assert (refused, headers[b"www-authenticate"]) == (401, b"Bearer")
    for header in ((b"authorization", b"Bearer good"), (b"authorization", b"bearer  good "),
                   (b"x-gpuyard-token", b"good")):  # fmt: skip
        assert status(path, guard, headers=[header])[0] == 200
    for header in (
        (b"authorization", b"Bearer bad"),
        (b"authorization", b"Basic good"),
        (b"authorization", b"\xff"),
    ):
        assert status(path, guard, headers=[header])[0] == 401
    assert status(path, Guard(inner))[0] == 200


def test_the_reviewer_learns_who_asks_for_what() -> None:
    reviewer = Reviewer()
    headers = [(b"authorization", b"Bearer t")]
    status("/v1/plans", Guard(inner, reviewer), "POST", headers=headers, client=("10.0.0.1", 7))
    assert reviewer.asked == [("t", "10.0.0.1", "post", "/v1/plans")]


def test_who_tried_too_many_tokens_is_told_when_to_come_again() -> None:
    refused, headers = status("/v1/x", Guard(inner, Reviewer()), headers=[(b"x-gpuyard-token", b"many")])
    assert (refused, headers[b"retry-after"]) == (429, b"60")
