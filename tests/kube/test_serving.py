"""Pages over HTTP, asked by a client of somebody else's making and by callers that mean no good."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar
from urllib.parse import urlsplit

import aiohttp
import pytest

from gpuyard_kube import serving
from gpuyard_kube.serving import JSON_TEXT, AddressError, Page, PageServer


async def _state() -> Page:
    return Page(b'{"v":1}', JSON_TEXT)


async def _broken() -> Page:
    raise LookupError("lost")


T = TypeVar("T")


def _served(scene: Callable[[PageServer], Awaitable[T]]) -> T:
    async def run() -> T:
        async with PageServer({"/state": _state, "/broken": _broken}, "127.0.0.1", 0) as server:
            return await scene(server)

    return asyncio.run(run())


def _said(request: bytes) -> bytes:
    """All that the server answers to these bytes."""

    async def scene(server: PageServer) -> bytes:
        reader, writer = await _dial(server)
        writer.write(request)
        answer = await reader.read()
        writer.close()
        return answer

    return _served(scene)


async def _dial(server: PageServer) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    where = urlsplit(server.url)
    return await asyncio.open_connection(where.hostname, where.port)


def test_a_page_is_got_by_its_path_whatever_the_query_and_however_often() -> None:
    async def scene(server: PageServer) -> list[tuple[int, str, bytes]]:
        async with aiohttp.ClientSession() as session:
            answers = []
            for path in ("/state", "/state?timeout=3s"):
                async with session.get(server.url + path) as reply:
                    answers.append((reply.status, reply.content_type, await reply.read()))
            return answers

    assert _served(scene) == [(200, JSON_TEXT, b'{"v":1}')] * 2


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        ("GET /nothing HTTP/1.1", 404),
        ("POST /state HTTP/1.1", 405),
        ("GET /state", 400),
        ("GET /state HTTP/2.0", 400),
        ("", 400),
        ("GET /" + "x" * 2 * serving.REQUEST_BYTES + " HTTP/1.1", 431),
    ],
)
def test_what_cannot_be_answered_is_refused_with_the_status_that_says_why(
    request_line: str, status: int
) -> None:
    answer = _said(f"{request_line}\r\nHost: node-1\r\n\r\n".encode())
    assert answer.startswith(f"HTTP/1.1 {status} ".encode())
    assert answer.endswith(b"\n")


def test_a_page_that_fails_is_answered_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    assert _said(b"GET /broken HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 500 ")
    assert "/broken failed" in caplog.text


def test_who_sends_half_a_request_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "REQUEST_SECONDS", 0.05)
    assert _said(b"GET /state HTTP/1.1\r\n") == b""


def test_only_so_many_are_heard_at_once_and_leaving_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "CONNECTIONS", 1)

    async def scene(server: PageServer) -> list[bytes]:
        _, silent = await _dial(server)
        answers = [await _asked(server)]
        silent.close()
        while not (answer := await _asked(server)):
            pass
        return [*answers, answer.partition(b"\r\n")[0]]

    assert _served(scene) == [b"", b"HTTP/1.1 200 OK"]


async def test_an_address_that_cannot_be_had_is_named_with_the_remedy() -> None:
    async with PageServer({}, "127.0.0.1", 0) as first:
        taken = urlsplit(first.url).port
        assert taken is not None
        with pytest.raises(AddressError, match=f"port {taken}: .*; choose another --host or --port"):
            async with PageServer({}, "127.0.0.1", taken):
                pass


async def _asked(server: PageServer) -> bytes:
    """The answer, empty when the connection is not taken."""
    reader, writer = await _dial(server)
    try:
        writer.write(b"GET /state HTTP/1.1\r\n\r\n")
        return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


async def test_leaving_ends_what_is_under_way_and_frees_the_port() -> None:
    async with PageServer({"/state": _state}, "127.0.0.1", 0) as server:
        reader, writer = await _dial(server)
        writer.write(b"GET /state")
        await writer.drain()
        port = urlsplit(server.url).port
        assert port is not None
    with pytest.raises((ConnectionError, OSError)):
        await asyncio.open_connection("127.0.0.1", port)
    writer.close()
