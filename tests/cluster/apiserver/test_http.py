import asyncio
import io
import json
import signal
from collections.abc import Awaitable, Callable

import aiohttp
import orjson
import pytest

from gpuyard_cluster.apiserver import http
from gpuyard_cluster.apiserver.auth.authentication import Authentication
from gpuyard_cluster.apiserver.auth.users import User
from gpuyard_cluster.apiserver.http import serve
from gpuyard_cluster.apiserver.requests import MAX_BODY, Request, Response
from gpuyard_cluster.apiserver.storage.watches import Watch
from tests.cluster.apiserver.calling import CONFIGS, LEASES, Caller, config, lease

Test = Callable[[Caller, aiohttp.ClientSession], Awaitable[None]]


def served(test: Test) -> Caller:
    """Run a test against a server that listens, and end both."""

    async def run() -> Caller:
        api = Caller()
        listener = await serve(api.server)
        try:
            async with asyncio.timeout(20), aiohttp.ClientSession(listener.url) as session:
                await test(api, session)
        finally:
            await listener.close()
        return api

    return asyncio.run(run())


def test_requests_and_answers_pass_through() -> None:
    async def check(api: Caller, session: aiohttp.ClientSession) -> None:
        body = {"metadata": {"name": "a", "labels": {"x y": ""}}, "bogus": 1}
        async with session.post(CONFIGS, json=body, params={"fieldValidation": "Strict"}) as answer:
            assert (answer.status, "bogus" in (await answer.json())["message"]) == (400, True)
        async with session.post(CONFIGS, json=config("a")) as answer:
            assert answer.status == 201
        async with session.get(f"{CONFIGS}?labelSelector=x%21%3Dy&limit=5") as answer:
            assert [item["metadata"]["name"] for item in (await answer.json())["items"]] == ["a"]
        async with session.get("/nowhere") as answer:
            assert (answer.status, await answer.text()) == (404, "404 page not found\n")

    served(check)


def test_of_a_parameter_that_comes_twice_the_first_counts() -> None:
    async def check(api: Caller, session: aiohttp.ClientSession) -> None:
        for name in "abc":
            api.make(CONFIGS, config(name))
        async with session.get(f"{CONFIGS}?limit=1&limit=2") as answer:
            assert len((await answer.json())["items"]) == 1

    served(check)


def test_large_answers_are_compressed_for_those_who_take_it() -> None:
    async def check(api: Caller, session: aiohttp.ClientSession) -> None:
        api.make(CONFIGS, config("large", {"x": "y" * 300_000}))
        for accepted, encoding in (("gzip", "gzip"), ("identity", None)):
            async with session.get(f"{CONFIGS}/large", headers={"Accept-Encoding": accepted}) as answer:
                assert answer.headers.get("Content-Encoding") == encoding
                assert len((await answer.json())["data"]["x"]) == 300_000

    served(check)


def test_a_body_that_is_too_large_is_answered_not_kept() -> None:
    async def check(api: Caller, session: aiohttp.ClientSession) -> None:
        async with session.post(CONFIGS, data=io.BytesIO(b"x" * (3 * MAX_BODY))) as answer:
            assert (answer.status, (await answer.json())["reason"]) == (413, "RequestEntityTooLarge")

    served(check)


@pytest.mark.parametrize(
    ("head", "begun"),
    [
        (b"DELETE %b/kept HTTP/1.1\r\nContent-Length: 60\r\n", b""),
        (b"DELETE %b/kept HTTP/1.1\r\nContent-Length: 60\r\n", b'{"kind":"DeleteOptions",'),
        (b"POST %b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n", b'1c\r\n{"metadata":{"name":"half"}}\r\n'),
    ],
)
def test_a_request_that_breaks_off_changes_nothing(head: bytes, begun: bytes) -> None:
    """Without the rest of its body a DELETE would have no preconditions, and fit any object of that name."""
    seen: list[str] = []

    async def check(api: Caller, session: aiohttp.ClientSession) -> None:
        api.make(CONFIGS, config("kept"))
        original = api.server.handle

        def handle(request: Request) -> Response:
            seen.append(request.method)
            return original(request)

        api.server.handle = handle  # type: ignore[method-assign]
        url = session._base_url
        assert url is not None
        _, writer = await asyncio.open_connection(url.host, url.port)
        writer.write(head % CONFIGS.encode() + b"Host: x\r\nContent-Type: application/json\r\n\r\n" + begun)
        await writer.drain()
        async with session.get(CONFIGS):  # the server has read what was sent before
            pass
        writer.close()
        await writer.wait_closed()
        async with session.get(CONFIGS) as answer:
            assert [item["metadata"]["name"] for item in (await answer.json())["items"]] == ["kept"]

    api = served(check)
    assert api.get(CONFIGS).names == ["kept"]
    assert set(seen) == {"GET"}


def test_a_watch_streams_lines_until_its_time_is_up() -> None:
    async def check(api: Caller, session: aiohttp.ClientSession) -> None:
        query = {"watch": "1", "timeoutSeconds": "1", "allowWatchBookmarks": "true"}
        async with session.get(LEASES, params=query) as answer:
            api.make(LEASES, lease("a"))
            api.delete(f"{LEASES}/a")
            events = [json.loads(line) async for line in answer.content]
        assert [event["type"] for event in events] == ["ADDED", "DELETED", "BOOKMARK"]
        assert events[-1]["object"]["metadata"]["resourceVersion"] == str(api.server.revision)

    served(check)


def test_a_silent_watch_gets_bookmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "BOOKMARK_SECONDS", 0.01)

    async def check(api: Caller, session: aiohttp.ClientSession) -> None:
        async with session.get(LEASES, params={"watch": "1", "allowWatchBookmarks": "1"}) as answer:
            for _ in range(3):
                assert orjson.loads(await answer.content.readline())["type"] == "BOOKMARK"

    served(check)


def test_the_server_stops_with_watches_open_and_tells_their_readers() -> None:
    async def run() -> bytes:
        api = Caller()
        listener = await serve(api.server)
        reading = {"watch": "1"}
        async with (
            aiohttp.ClientSession(listener.url) as session,
            session.get(LEASES, params=reading) as answer,
        ):
            await listener.close()
            return await answer.read()

    assert asyncio.run(run()) == b""


def test_a_reader_who_leaves_is_forgotten() -> None:
    opened: list[Watch] = []

    async def check(api: Caller, session: aiohttp.ClientSession) -> None:
        original = api.server.handle

        def handle(request: Request) -> Response:
            response = original(request)
            if response.watch is not None:
                opened.append(response.watch)
            return response

        api.server.handle = handle  # type: ignore[method-assign]
        async with session.get(LEASES, params={"watch": "1"}):
            assert not opened[0].closed
        while not opened[0].closed:  # bounded by the timeout around the test
            await asyncio.sleep(0.01)

    served(check)


def test_signals_are_left_alone() -> None:
    before = signal.getsignal(signal.SIGTERM)

    async def check(api: Caller, session: aiohttp.ClientSession) -> None:
        assert signal.getsignal(signal.SIGTERM) is before

    served(check)


async def test_a_port_that_is_taken_is_an_error_at_once() -> None:
    listener = await serve(Caller().server)
    try:
        with pytest.raises(OSError, match="in use"):
            await serve(Caller().server, port=int(listener.url.rpartition(":")[2]))
    finally:
        await listener.close()


def test_a_failure_of_the_server_itself_is_a_status_too(caplog: pytest.LogCaptureFixture) -> None:
    async def check(api: Caller, session: aiohttp.ClientSession) -> None:
        def fail(_request: Request) -> Response:
            raise LookupError("lost")

        api.server.handle = fail  # type: ignore[method-assign]
        async with session.get(CONFIGS) as answer:
            status = await answer.json()
            assert (answer.status, status["kind"], status["reason"]) == (500, "Status", "InternalError")

    served(check)
    assert "lost" in caplog.text


def test_a_locked_server_answers_401_to_strangers_and_knows_those_whom_it_knows() -> None:
    review = "/apis/authentication.k8s.io/v1/selfsubjectreviews"

    async def check(api: Caller, session: aiohttp.ClientSession) -> None:
        api.server.authentication = Authentication({"secret": User("alice")}, required=True)
        for headers in ({}, {"Authorization": "Bearer wrong"}):
            async with session.get(CONFIGS, headers=headers) as answer:
                assert (answer.status, (await answer.json())["reason"]) == (401, "Unauthorized")
        async with session.get("/healthz") as answer:
            assert (answer.status, await answer.text()) == (200, "ok")
        known = {"Authorization": "Bearer secret"}
        async with session.post(review, json={}, headers=known) as answer:
            assert (await answer.json())["status"]["userInfo"]["username"] == "alice"
        spoken_for = {**known, "Impersonate-User": "bob"}
        async with session.post(review, json={}, headers=spoken_for) as answer:
            assert (await answer.json())["status"]["userInfo"]["username"] == "bob"

    served(check)


def test_a_reader_who_does_not_read_is_left_and_costs_no_more(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(http, "PATIENCE_SECONDS", 0.2)

    async def check(api: Caller, session: aiohttp.ClientSession) -> None:
        host, port = str(session._base_url).removeprefix("http://").strip("/").split(":")
        reader, writer = await asyncio.open_connection(host, int(port), limit=1024)
        path = f"{CONFIGS}?watch=true&timeoutSeconds=60"
        writer.write(f"GET {path} HTTP/1.1\r\nHost: here\r\n\r\n".encode())
        await reader.readline()
        watches: list[Watch] = api.server._backend.watches._open["configmaps"]
        assert len(watches) == 1
        number = 0
        while not watches[0].closed:
            number += 1
            api.make(CONFIGS, config(f"c{number}", {"x": "y" * 500_000}))
            await asyncio.sleep(0.01)
        async with session.get(f"{CONFIGS}/c1") as answer:
            assert answer.status == 200, "others are served as before"
        writer.close()

    served(check)
    assert any("did not read" in record.getMessage() for record in caplog.records)
