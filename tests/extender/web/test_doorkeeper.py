"""Who is not the active extender answers no verb itself."""

import asyncio
from dataclasses import dataclass
from typing import Any

import orjson
import pytest

from gpuyard.verdicts import Reason
from gpuyard_extender.transport.asgi import App, Message, Receive, Send
from gpuyard_extender.web.doorkeeper import Doorkeeper

UNKNOWN = Reason.LEADER_UNAVAILABLE.text
VERBS = ("/filter", "/prioritize", "/bind", "/preempt", "/v1/plans")


@dataclass
class Election:
    leading: bool = False
    elsewhere: str = ""
    becomes: "Election | None" = None
    """What comes of it while somebody waits."""

    async def settled(self) -> None:
        if self.becomes:
            self.leading, self.elsewhere = self.becomes.leading, self.becomes.elsewhere


async def inner(scope: Message, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b'"answered"'})


def ask(
    path: str, election: Election, scheme: str = "http", app: App = inner
) -> tuple[int, dict[bytes, bytes], Any]:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(Doorkeeper(app, election)({"type": "http", "path": path, "scheme": scheme}, receive, send))
    return sent[0]["status"], dict(sent[0]["headers"]), orjson.loads(sent[1]["body"])


@pytest.mark.parametrize("path", VERBS)
def test_the_active_one_answers(path: str) -> None:
    assert ask(path, Election(leading=True))[2] == "answered"


@pytest.mark.parametrize("path", VERBS)
def test_another_sends_the_caller_on_and_ends_the_connection(path: str) -> None:
    status, headers, _ = ask(path, Election(elsewhere="10.0.0.2:8081"))
    assert status == 307
    assert headers[b"location"] == f"http://10.0.0.2:8081{path}".encode()
    assert headers[b"connection"] == b"close"


def test_who_asked_in_tls_is_sent_on_in_tls() -> None:
    _, headers, _ = ask("/bind", Election(elsewhere="10.0.0.2:8081"), "https")
    assert headers[b"location"] == b"https://10.0.0.2:8081/bind"


def test_who_asks_between_two_active_ones_is_answered_by_the_next() -> None:
    assert ask("/filter", Election(becomes=Election(leading=True)))[2] == "answered"
    assert ask("/filter", Election(becomes=Election(elsewhere="10.0.0.2:8081")))[0] == 307


def test_when_nobody_knows_the_active_one_the_verbs_fail_as_the_protocol_says() -> None:
    status, headers, filtered = ask("/filter", Election())
    assert (status, headers[b"connection"]) == (200, b"close")
    assert "LeaderUnavailable" in filtered["Error"]
    assert "LeaderUnavailable" in ask("/bind", Election())[2]["Error"]
    assert ask("/prioritize", Election())[2] == []
    assert ask("/preempt", Election())[0] == 503
    assert ask("/v1/plans", Election())[0] == 503


def test_a_plan_that_was_found_while_the_lease_was_lost_is_not_told() -> None:
    election = Election(leading=True)

    async def long(scope: Message, receive: Receive, send: Send) -> None:
        election.leading, election.elsewhere = False, "10.0.0.2:8081"
        await inner(scope, receive, send)

    status, headers, content = ask("/v1/plans", election, app=long)
    assert (status, headers[b"location"], content) == (
        307,
        b"http://10.0.0.2:8081/v1/plans",
        {"error": UNKNOWN},
    )
    election.leading = True
    assert ask("/filter", election, app=long)[2] == "answered"


@pytest.mark.parametrize("path", ["/livez", "/readyz", "/v1/pods/ns/pod/explain"])
def test_health_and_explanations_are_everyones(path: str) -> None:
    assert ask(path, Election())[2] == "answered"
