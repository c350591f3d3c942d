"""How the extender's web server ends."""

import asyncio

import pytest

from gpuyard_extender.transport import server
from gpuyard_extender.transport.server import Place, Server
from gpuyard_extender.web.app import create_app
from tests.extender.builders import Stage

HALVES = {
    "half a head": b"POST /filter HTTP/1.1\r\nHost:",
    "half a body": b"POST /filter HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
    "a chunk, and no end": b"POST /bind HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
}


@pytest.mark.parametrize("sent", HALVES.values(), ids=HALVES.keys())
async def test_a_client_who_never_finishes_its_request_does_not_keep_the_process_alive(
    sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "DRAIN_SECONDS", 0.1)

    web = Server(create_app(Stage().extender), Place("127.0.0.1", 0))
    serving = asyncio.create_task(web.serve())
    while not web.started:
        await asyncio.sleep(0.01)
    reader, writer = await asyncio.open_connection(*web.servers[0].sockets[0].getsockname())
    writer.write(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n" + sent)
    await reader.readuntil(b"ok")
    web.should_exit = True
    async with asyncio.timeout(10):
        await serving
    writer.close()
