"""Every failure of the extender is an answer."""

import asyncio

import pytest
from aiohttp import web

from gpuyard.plans import PlanAnswer, PlanRequest, Unplaceable, Unready, answer_to_json
from gpuyard.verdicts import Reason, Rejection
from gpuyard.writes import JSON
from gpuyard_operator.planner import HttpPlanner

REQUEST = PlanRequest("default", "ring", 2, ("uid-a", "uid-b"))


async def asked(status: int, body: object) -> tuple[PlanAnswer, list[JSON]]:
    """The answer of a planner whose extender answers with `body`, and what the extender was asked."""
    questions: list[JSON] = []

    async def plans(request: web.Request) -> web.Response:
        questions.append(await request.json())
        return web.json_response(body, status=status)

    application = web.Application()
    application.router.add_post("/v1/plans", plans)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    planner = HttpPlanner(f"http://127.0.0.1:{runner.addresses[0][1]}/")
    try:
        return await planner.plan(REQUEST), questions
    finally:
        await planner.close()
        await runner.cleanup()


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


def test_an_extender_that_is_not_there_is_no_verdict() -> None:
    async def ask() -> PlanAnswer:
        planner = HttpPlanner("http://127.0.0.1:9")
        try:
            return await planner.plan(REQUEST)
        finally:
            await planner.close()

    answer = asyncio.run(ask())
    assert isinstance(answer, Unready)
    assert answer.detail.startswith("the extender at http://127.0.0.1:9/v1/plans cannot be reached")
