"""The client against a server on 127.0.0.1: what comes back, and what a failure looks like."""

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from gpuyard.writes import PatchType, Write
from gpuyard_cluster.listening import listen
from gpuyard_kube.http import HttpApi
from gpuyard_kube.servers import Server
from tests.kube.serving import CONFIGS, SECONDS, Served, create, served
from tests.kube.test_servers import kubeconfig


def against_a_server(test: Callable[[Served], Awaitable[None]]) -> None:
    async def run() -> None:
        async with served() as found:
            await test(found)

    asyncio.run(run())


def test_writes_and_reads_reach_the_server() -> None:
    async def check(found: Served) -> None:
        assert (await found.api.send(create("a", key="1"))).status == 201
        patch = Write("PATCH", f"{CONFIGS}/a", {"data": {"key": "2"}}, PatchType.MERGE)
        assert (await found.api.send(patch)).body["data"] == {"key": "2"}
        listed = await found.api.read(CONFIGS, fieldSelector="metadata.name=a")
        assert [item["data"] for item in listed.body["items"]] == [{"key": "2"}]
        assert (await found.api.read(CONFIGS, labelSelector="x=y")).body["items"] == []
        assert (await found.api.send(Write("DELETE", f"{CONFIGS}/a"))).ok

    against_a_server(check)


def test_a_refusal_is_an_answer_with_its_reason() -> None:
    async def check(found: Served) -> None:
        reply = await found.api.read(f"{CONFIGS}/absent")
        assert (reply.ok, reply.status, reply.reason) == (False, 404, 'configmaps "absent" not found')
        await found.api.send(create("a"))
        again = await found.api.send(create("a"))
        assert (again.status, again.reason) == (409, 'configmaps "a" already exists')

    against_a_server(check)


def test_an_answer_that_is_not_json_is_its_own_message() -> None:
    async def check(found: Served) -> None:
        reply = await found.api.read("/nowhere")
        assert (reply.status, reply.reason) == (404, "404 page not found\n")

    against_a_server(check)


def test_large_objects_pass_both_ways() -> None:
    async def check(found: Served) -> None:
        large = "x" * 900_000
        assert (await found.api.send(create("large", key=large))).ok
        assert (await found.api.read(f"{CONFIGS}/large")).body["data"]["key"] == large
        async for event in found.api.watch(CONFIGS, {"timeoutSeconds": "1"}):
            assert event["object"]["data"]["key"] == large
            break

    against_a_server(check)


def test_a_server_that_cannot_be_reached_answers_503() -> None:
    async def check(found: Served) -> None:
        await found.listener.close()
        reply = await found.api.read(CONFIGS)
        assert (reply.status, reply.reason.startswith(f"{found.listener.url} cannot be reached: ")) == (
            503,
            True,
        )
        assert (await found.api.send(create("a"))).status == 503

    against_a_server(check)


def test_a_server_that_does_not_answer_is_told_of_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    async def check() -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            api = HttpApi.at(f"http://127.0.0.1:{silent.getsockname()[1]}")
            reply = await api.read(CONFIGS)
            await api.close()
        assert (reply.status, reply.reason) == (503, f"{api.url} cannot be reached: TimeoutError")

    monkeypatch.setattr("gpuyard_kube.http.REQUEST_SECONDS", 0.1)
    asyncio.run(check())


def test_a_watch_gives_events_until_the_server_ends_it() -> None:
    async def check(found: Served) -> None:
        await found.api.send(create("a"))
        events = [event async for event in found.api.watch(CONFIGS, {"timeoutSeconds": "1"})]
        assert [(event["type"], event["object"]["metadata"]["name"]) for event in events] == [("ADDED", "a")]

    against_a_server(check)


def test_a_watch_of_what_is_not_served_raises_with_the_status() -> None:
    async def check(found: Served) -> None:
        with pytest.raises(aiohttp.ClientResponseError) as refused:
            await anext(found.api.watch("/apis/example.com/v1/things", {}))
        assert refused.value.status == 404

    against_a_server(check)


def test_a_watch_of_a_server_that_dies_ends_or_raises() -> None:
    async def check(found: Served) -> None:
        await found.api.send(create("a"))
        events = found.api.watch(CONFIGS, {})
        assert (await anext(events))["type"] == "ADDED"
        await found.listener.close()
        with contextlib.suppress(aiohttp.ClientError):
            assert [event async for event in events] == []

    against_a_server(check)


def test_credentials_of_a_kubeconfig_go_with_every_request(tmp_path: Path) -> None:
    seen = list[bytes]()

    async def application(scope: dict, receive: object, send: Callable[[dict], Awaitable[None]]) -> None:  # type: ignore[type-arg]
        seen.append(dict(scope["headers"]).get(b"authorization", b""))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    async def run() -> None:
        guest = await listen(application, "api")
        api = await HttpApi.from_kubeconfig(kubeconfig(tmp_path, guest.url), "here")
        await api.read("/version")
        await api.send(create("a"))
        _ = [event async for event in api.watch(CONFIGS, {}) if event]
        await api.close()
        await guest.close()

    asyncio.run(run())
    assert seen == [b"Bearer secret"] * 3


class Unreadable:
    """A client's configuration whose token's file is just being replaced."""

    async def auth_settings(self) -> Any:
        raise PermissionError(13, "Permission denied")


def test_without_a_token_nothing_is_sent_and_why_is_told() -> None:
    async def run() -> None:
        api = HttpApi(Server("http://127.0.0.1:9", None, Unreadable()))
        for reply in (await api.read("/version"), await api.send(create("a"))):
            assert (reply.status, "no token" in reply.reason, "Permission denied" in reply.reason) == (
                401,
                True,
                True,
            )
        with pytest.raises(ConnectionError, match="no token"):
            await anext(api.watch(CONFIGS, {}))
        await api.close()

    asyncio.run(run())


def test_many_requests_at_a_time_take_turns_on_a_few_connections() -> None:
    """As an operator sends them that starts beside thousands of groups."""
    peers = set[Any]()

    async def application(scope: Any, receive: Any, send: Any) -> None:
        peers.add(tuple(scope["client"]))
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": b"{}"})

    async def run() -> None:
        guest = await listen(application, "api")
        api = HttpApi(Server(guest.url), parallel=4)
        replies = await asyncio.gather(*(api.send(create(f"c{number}")) for number in range(30)))
        assert all(reply.ok for reply in replies)
        await api.close()
        await guest.close()

    asyncio.run(run())
    assert len(peers) <= 4


def test_a_request_whose_turn_does_not_come_in_time_is_answered_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gpuyard_kube.http.REQUEST_SECONDS", 0.3)

    async def run() -> None:
        async def application(scope: Any, receive: Any, send: Any) -> None:
            await asyncio.Event().wait()

        guest = await listen(application, "api")
        api = HttpApi(Server(guest.url), parallel=1)
        answers = asyncio.as_completed([api.read("/slow") for _ in range(50)])
        async with asyncio.timeout(SECONDS / 2):  # one after the other they would take 15 s
            assert {(await answer).status for answer in answers} == {503}
        await api.close()
        await guest.close()

    asyncio.run(run())
