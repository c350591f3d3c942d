"""What one client can take of the extender, whatever it sends."""

import asyncio
import socket
from collections.abc import Awaitable, Callable

import pytest

from gpuyard_extender.transport import connection, server
from gpuyard_extender.transport.asgi import Receive, Send
from gpuyard_extender.transport.connection import Connection
from gpuyard_extender.transport.server import Server
from tests.extender.served import application, served

ASK = b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"
POST = b"POST /filter HTTP/1.1\r\nHost: x\r\n"

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[bytes]]


def told(talk: Talk) -> bytes:
    async def story() -> bytes:
        async with served(application()) as (_, port):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            answer = await talk(reader, writer)
            writer.close()
            return answer

    return asyncio.run(story())


def sent(content: bytes) -> bytes:
    """All that is answered until the server ends the connection."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(content)
        return await reader.read()

    return told(talk)


@pytest.mark.parametrize(
    "slow",
    [b"P", POST, POST + b"Content-Length: 9\r\n\r\n{", b"\r\n", ASK + b"GET"],
    ids=["a letter", "half a head", "half a body", "nothing but line ends", "a second request"],
)
def test_a_request_that_does_not_end_is_given_up(slow: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "REQUEST_SECONDS", 0.05)
    assert b"HTTP/1.1 408 " in sent(slow)


def test_drop_by_drop_is_not_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "REQUEST_SECONDS", 0.2)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        ended = asyncio.ensure_future(reader.read())
        writer.write(POST)
        while not ended.done():
            writer.write(b"X: y\r\n")
            await asyncio.wait([ended], timeout=0.02)
        try:
            return await ended
        except ConnectionResetError:  # one more drop came after the end, and the kernel threw the answer away
            return b""

    answer = told(talk)
    assert answer == b"" or b"HTTP/1.1 408 " in answer


def test_a_client_that_never_asks_does_not_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "KEEP_ALIVE_SECONDS", 0.05)
    assert sent(b"") == b""


def test_a_head_and_a_body_have_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEAD_BYTES", 1000)
    monkeypatch.setattr(connection, "REQUEST_BYTES", 5000)
    assert b"HTTP/1.1 431 " in sent(POST + b"X: y\r\n" * 300)
    assert b"HTTP/1.1 431 " in sent(b"GET /" + b"x" * 1500)
    assert b"HTTP/1.1 413 " in sent(POST + b"Content-Length: 9000\r\n\r\n" + b"x" * 6000)


def test_a_connection_is_used_for_as_many_requests_as_one_likes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bounds are those of a request, not of a connection."""
    monkeypatch.setattr(connection, "HEAD_BYTES", 100)
    monkeypatch.setattr(connection, "REQUEST_BYTES", 200)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        for _ in range(20):
            writer.write(ASK)
            answer = await reader.readuntil(b"ok")
        return answer

    assert b"200 OK" in told(talk)


def test_an_answer_may_take_longer_than_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "REQUEST_SECONDS", 0.05)

    async def slow(scope: object, receive: object, send: Callable[[object], Awaitable[None]]) -> None:
        await asyncio.sleep(0.2)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    async def story() -> bytes:
        async with served(slow) as (_, port):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(ASK)
            answer = await reader.readuntil(b"ok")
            writer.close()
            return answer

    assert b"200 OK" in asyncio.run(story())


async def test_an_answer_does_not_wait_for_an_acknowledgement() -> None:
    """Without TCP_NODELAY each answer on a used connection takes 40 ms more."""

    async with served(application()) as (found, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(ASK)
        await reader.readuntil(b"ok")
        assert [nodelay(found)] == [1]
        writer.close()


def nodelay(found: Server) -> int:
    [only] = found.server_state.connections
    assert isinstance(only, Connection)
    return int(only.transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))


async def test_a_client_that_reads_no_more_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a stream would wait for it for ever, and keep one of the few places of listeners."""
    monkeypatch.setattr(connection, "READ_SECONDS", 0.1)
    gone = asyncio.Event()

    async def endless(scope: object, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

        async def flood() -> None:
            while True:
                await send({"type": "http.response.body", "body": b"x" * 2**18, "more_body": True})
                await asyncio.sleep(0)

        flooding = asyncio.create_task(flood())
        while (await receive())["type"] != "http.disconnect":
            pass
        flooding.cancel()
        gone.set()

    async with served(endless) as (_, port):
        _reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(ASK)
        await asyncio.wait_for(gone.wait(), 20)
        writer.close()
