"""HTTP servers as guests on a loop: they say when they listen, leave signals alone and end when told."""

import asyncio
import contextlib
import signal
from typing import Any

import aiohttp
import pytest

from gpuyard_cluster.listening import Guest, listen


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answers with the path; /slow never ends."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    if scope["path"] == "/slow":
        await send({"type": "http.response.body", "body": b"begun", "more_body": True})
        await asyncio.Event().wait()
    await send({"type": "http.response.body", "body": scope["path"].encode()})


def port_of(guest: Guest) -> int:
    return int(guest.url.rpartition(":")[2])


def test_it_answers_as_soon_as_it_is_there() -> None:
    async def work() -> None:
        guest = await listen(echo, "echo")
        assert guest.url.startswith("http://127.0.0.1:")
        async with aiohttp.ClientSession() as client, client.get(f"{guest.url}/hello") as answer:
            assert await answer.text() == "/hello"
        await guest.close()

    asyncio.run(work())


def test_two_guests_have_two_ports() -> None:
    async def work() -> None:
        first, second = await listen(echo, "first"), await listen(echo, "second")
        assert first.url != second.url
        await first.close()
        await second.close()

    asyncio.run(work())


def test_an_address_that_is_taken_is_refused() -> None:
    async def work() -> None:
        guest = await listen(echo, "echo")
        with pytest.raises(OSError, match="in use"):
            await listen(echo, "other", port=port_of(guest))
        await guest.close()

    asyncio.run(work())


def test_once_closed_it_listens_no_more_and_its_port_is_free() -> None:
    async def work() -> None:
        guest = await listen(echo, "echo")
        await guest.close()
        async with aiohttp.ClientSession() as client:
            with pytest.raises(aiohttp.ClientConnectionError):
                await client.get(guest.url)
        again = await listen(echo, "echo", port=port_of(guest))
        await again.close()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(work())


def test_a_reader_that_reads_on_does_not_keep_it_open() -> None:
    async def work() -> None:
        guest = await listen(echo, "echo")
        async with aiohttp.ClientSession() as client, client.get(f"{guest.url}/slow") as answer:
            assert await answer.content.readany() == b"begun"
            async with asyncio.timeout(20):
                await guest.close()
            with contextlib.suppress(aiohttp.ClientError):
                await answer.read()

    asyncio.run(work())


def test_signals_are_left_alone() -> None:
    async def work() -> None:
        before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
        guest = await listen(echo, "echo")
        assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
        await guest.close()

    asyncio.run(work())
