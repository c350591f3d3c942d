"""Every failure of the extender is an answer."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import ClientTimeout, web

from gpuyard import vocabulary
from gpuyard.groups.plans import PlanAnswer, PlanRequest, Unplaceable, Unready, answer_to_json
from gpuyard.verdicts import Reason, Rejection
from gpuyard.writes import JSON
from gpuyard_operator.planner import HttpPlanner, Trust
from tests.extender.served import files, make_certificates
from tests.listening import listening

Handler = Callable[[web.Request], Awaitable[web.Response]]
REQUEST = PlanRequest("default", "ring", 2, ("uid-a", "uid-b"))


async def asked(status: int, body: object) -> tuple[PlanAnswer, list[JSON]]:
    """The answer of a planner whose extender answers with `body`, and what the extender was asked."""
    questions: list[JSON] = []

    async def plans(request: web.Request) -> web.Response:
        questions.append(await request.json())
        return web.json_response(body, status=status)

    async with serving(plans) as url:
        planner = HttpPlanner(f"{url}/")
        try:
            return await planner.plan(REQUEST), questions
        finally:
            await planner.close()


@asynccontextmanager
async def serving(plans: Handler, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """The URL of an extender that answers with `plans`."""
    application = web.Application()
    application.router.add_post("/v1/plans", plans)
    async with listening(application, tls) as url:
        yield url


def test_the_question_and_the_answer_travel_as_the_contract_says() -> None:
    refusal = Unplaceable("b", (Rejection("node-1", Reason.INSUFFICIENT_GPUS, "needs 1 GPU, 0 free of 1"),))
    answer, questions = asyncio.run(asked(200, answer_to_json(refusal)))
    assert answer == refusal
    members = ["uid-a", "uid-b"]
    assert questions == [{"namespace": "default", "podGroup": "ring", "needed": 2, "members": members}]


@pytest.mark.parametrize("body", [{}, [], 3, {"planned": 3}, {"unplaceable": {"member": "b"}}])
def test_an_answer_without_sense_is_no_verdict(body: object) -> None:
    answer, _ = asyncio.run(asked(200, body))
    assert isinstance(answer, Unready)
    assert "cannot be read" in answer.detail


def test_an_error_of_the_extender_is_no_verdict() -> None:
    answer, _ = asyncio.run(asked(503, {}))
    assert answer == Unready("the extender answered HTTP 503")


async def alone(url: str) -> PlanAnswer:
    planner = HttpPlanner(url)
    try:
        return await planner.plan(REQUEST)
    finally:
        await planner.close()


def test_an_extender_that_is_not_there_is_no_verdict() -> None:
    answer = asyncio.run(alone("http://127.0.0.1:9"))
    assert isinstance(answer, Unready)
    assert answer.detail.startswith("the extender at http://127.0.0.1:9/v1/plans cannot be reached")


def test_an_extender_that_does_not_answer_is_told_of_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuyard_operator.planner.PATIENCE", ClientTimeout(total=0.1))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        answer = asyncio.run(alone(url))
    assert answer == Unready(f"the extender at {url}/v1/plans cannot be reached: TimeoutError")


def test_who_asks_is_said_with_a_token_that_is_read_each_time(tmp_path: Path) -> None:
    """A kubelet renews it; and an extender that is not the active one sends us on to the one that is."""
    token, seen = tmp_path / "token", list[str | None]()

    async def plans(request: web.Request) -> web.Response:
        seen.append(request.headers.get(vocabulary.TOKEN_HEADER))
        return web.json_response({"error": "no"}, status=401)

    async def story() -> list[PlanAnswer]:
        async with serving(plans) as active, serving(elsewhere(active)) as standby:
            planner = HttpPlanner(standby, Trust(token_file=token))
            answers = [await planner.plan(REQUEST)]
            for text in ("one\n", "two\n"):
                token.write_text(text)
                answers.append(await planner.plan(REQUEST))
            await planner.close()
            return answers

    lost, *refused = asyncio.run(story())
    assert isinstance(lost, Unready)
    assert "the token for the extender cannot be read" in lost.detail
    assert refused == [Unready("the extender answered HTTP 401: no")] * 2
    assert seen == ["one", "two"]


def elsewhere(url: str) -> Handler:
    async def plans(request: web.Request) -> web.Response:
        raise web.HTTPTemporaryRedirect(f"{url}/v1/plans")

    return plans


def test_an_extender_in_tls_is_known_by_the_name_of_its_service_wherever_it_is(tmp_path: Path) -> None:
    ours, strangers = (make_certificates(tmp_path / name) for name in ("ours", "strangers"))
    refusal = Unplaceable("b", (Rejection("node-1", Reason.INSUFFICIENT_GPUS, "needs 1 GPU, 0 free of 1"),))

    async def plans(request: web.Request) -> web.Response:
        return web.json_response(answer_to_json(refusal))

    async def asked_by(authority: Path) -> PlanAnswer:
        async with serving(plans, files(ours).context()) as url:
            planner = HttpPlanner(url, Trust(ca_file=authority / "ca.crt"))
            try:
                return await planner.plan(REQUEST)
            finally:
                await planner.close()

    assert asyncio.run(asked_by(ours)) == refusal
    stranger = asyncio.run(asked_by(strangers))
    assert isinstance(stranger, Unready)
    assert "certificate" in stranger.detail
