"""HTTP servers as guests on a loop: they say when they listen, leave signals alone and end when told."""

import asyncio
import contextlib
import signal
from typing import Any

import aiohttp
import pytest

from gpuyard_cluster.listening import MAX_HEAD, Guest, listen


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answers with the path; /slow never ends."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    if scope["path"] == "/slow":
        await send({"type": "http.response.body", "body": b"begun", "more_body": True})
        await asyncio.Event().wait()
    await send({"type": "http.response.body", "body": scope["path"].encode()})


def port_of(guest: Guest) -> int:
    return int(guest.url.rpartition(":")[2])


async def test_it_answers_as_soon_as_it_is_there() -> None:
    guest = await listen(echo, "echo")
    assert guest.url.startswith("http://127.0.0.1:")
    async with aiohttp.ClientSession() as client, client.get(f"{guest.url}/hello") as answer:
        assert await answer.text() == "/hello"
    await guest.close()


async def test_who_wants_another_protocol_is_answered_and_nobody_is_told_to_install_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    guest = await listen(echo, "echo")
    wanted = {"Connection": "Upgrade", "Upgrade": "SPDY/3.1"}
    async with (
        aiohttp.ClientSession() as client,
        client.post(f"{guest.url}/exec", headers=wanted) as answer,
    ):
        assert await answer.text() == "/exec"
    await guest.close()
    assert caplog.messages == []


async def test_two_guests_have_two_ports() -> None:
    first, second = await listen(echo, "first"), await listen(echo, "second")
    assert first.url != second.url
    await first.close()
    await second.close()


async def test_an_address_that_is_taken_is_refused() -> None:
    guest = await listen(echo, "echo")
    with pytest.raises(OSError, match="in use"):
        await listen(echo, "other", port=port_of(guest))
    await guest.close()


async def test_once_closed_it_listens_no_more_and_its_port_is_free() -> None:
    guest = await listen(echo, "echo")
    await guest.close()
    async with aiohttp.ClientSession() as client:
        with pytest.raises(aiohttp.ClientConnectionError):
            await client.get(guest.url)
    again = await listen(echo, "echo", port=port_of(guest))
    await again.close()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_reader_that_reads_on_does_not_keep_it_open() -> None:
    guest = await listen(echo, "echo")
    async with aiohttp.ClientSession() as client, client.get(f"{guest.url}/slow") as answer:
        assert await answer.content.readany() == b"begun"
        async with asyncio.timeout(20):
            await guest.close()
        with contextlib.suppress(aiohttp.ClientError):
            await answer.read()


async def test_signals_are_left_alone() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    guest = await listen(echo, "echo")
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
    await guest.close()


async def said(guest: Guest, *sent: bytes) -> bytes:
    """The beginning of the answer to bytes that end where they end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port_of(guest))
    for portion in sent:
        writer.write(portion)
        with contextlib.suppress(ConnectionError):
            await writer.drain()
    found = await reader.readline()
    writer.close()
    return found


HEAD = b"GET /hello HTTP/1.1\r\nHost: x\r\n"


@pytest.mark.parametrize(
    "sent",
    [
        [HEAD, *([b"A: " + b"x" * 99_995 + b"\r\n"] * 11)],
        [HEAD, b"A: ", *([b"x" * 100_000] * 11)],
        [b"GET /", *([b"x" * 100_000] * 11)],
    ],
    ids=["headers", "one header", "path"],
)
async def test_a_head_without_end_is_refused_and_others_go_on(sent: list[bytes]) -> None:
    guest = await listen(echo, "echo")
    assert await said(guest, *sent) == b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    assert await said(guest, HEAD + b"\r\n") == b"HTTP/1.1 200 OK\r\n"
    await guest.close()


async def test_a_large_head_and_a_larger_body_are_taken() -> None:
    body = b"x" * (MAX_HEAD * 2)
    head = b"POST /hello HTTP/1.1\r\nHost: x\r\nA: %b\r\nContent-Length: %d\r\n\r\n" % (
        b"x" * (MAX_HEAD // 2),
        len(body),
    )

    guest = await listen(echo, "echo")
    assert await said(guest, head, body, head, body) == b"HTTP/1.1 200 OK\r\n"
    await guest.close()


@pytest.mark.parametrize(
    "sent",
    [
        b"\x00\x01\r\n\r\n",
        b"GET /hello HTTP/9.9\r\n\r\n",
        HEAD + b"A: a\x00b\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"CONNECT x:1 HTTP/1.1\r\n\r\n",
    ],
    ids=repr,
)
async def test_what_is_no_request_is_refused_and_others_go_on(sent: bytes) -> None:
    guest = await listen(echo, "echo")
    assert await said(guest, sent) == b"HTTP/1.1 400 Bad Request\r\n"
    assert await said(guest, HEAD + b"\r\n") == b"HTTP/1.1 200 OK\r\n"
    await guest.close()
