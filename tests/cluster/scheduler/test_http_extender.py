import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from gpuyard_cluster.scheduler import http_extender
from gpuyard_cluster.scheduler.extenders import ExtenderConfig, ExtenderError
from gpuyard_cluster.scheduler.http_extender import HttpExtenderClient
from tests.listening import listening

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def served(handler: Handler, story: Callable[[HttpExtenderClient], Awaitable[Any]]) -> Any:
    """What a story gives with a client of an extender that answers by `handler`."""

    async def run() -> Any:
        app = web.Application()
        app.router.add_post("/a/{verb}", handler)
        async with listening(app) as url:
            client = HttpExtenderClient(f"{url}/a/", ExtenderConfig())
            try:
                return await story(client)
            finally:
                await client.close()

    return asyncio.run(run())


def test_each_verb_is_posted_as_json() -> None:
    seen = []

    async def handler(request: web.Request) -> web.Response:
        seen.append((request.match_info["verb"], request.content_type, await request.json()))
        return web.json_response(
            [{"Host": "a", "Score": 1}] if "prioritize" in request.path else {"Error": ""}
        )

    async def story(client: HttpExtenderClient) -> list[Any]:
        verbs = client.filter, client.prioritize, client.preempt, client.bind
        return [await verb({"x": number}) for number, verb in enumerate(verbs)]

    answer = {"Error": ""}
    assert served(handler, story) == [answer, [{"Host": "a", "Score": 1}], answer, answer]
    asked = enumerate(("filter", "prioritize", "preempt", "bind"))
    assert seen == [(verb, "application/json", {"x": number}) for number, verb in asked]


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (500, "{}", r"failed filter with extender at URL http://127.0.0.1:\d+/a/filter, code 500"),
        (200, "", "^EOF$"),
        (200, "{", "the answer is not JSON"),
        (200, "[]", "the answer is no JSON object"),
    ],
)
def test_an_unusable_answer_is_an_error(status: int, body: str, said: str) -> None:
    async def handler(request: web.Request) -> web.Response:
        return web.Response(status=status, text=body)

    with pytest.raises(ExtenderError, match=said):
        served(handler, lambda client: client.filter({}))


def test_a_silent_extender_is_an_error_after_the_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_extender, "TIMEOUT_SECONDS", 0.05)

    async def story(client: HttpExtenderClient) -> None:
        try:
            await client.filter({})
        finally:
            answer.set()

    async def handler(request: web.Request) -> web.Response:
        await answer.wait()
        return web.json_response({})

    answer = asyncio.Event()
    with pytest.raises(ExtenderError, match="context deadline exceeded"):
        served(handler, story)


def test_an_extender_that_is_not_there_is_an_error() -> None:
    async def story() -> None:
        client = HttpExtenderClient("http://127.0.0.1:1", ExtenderConfig())
        try:
            await client.bind({})
        finally:
            await client.close()

    with pytest.raises(ExtenderError, match='^Post "http://127.0.0.1:1/bind": '):
        asyncio.run(story())


def test_a_redirect_is_followed_with_the_body() -> None:
    async def handler(request: web.Request) -> web.Response:
        if request.match_info["verb"] == "filter":
            raise web.HTTPTemporaryRedirect("/a/leader")
        return web.json_response({"NodeNames": [(await request.json())["x"]]})

    assert served(handler, lambda client: client.filter({"x": "a"})) == {"NodeNames": ["a"]}
