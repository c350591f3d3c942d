"""The process: its command line, and how it ends."""

import asyncio
import json
import re
import resource
import signal
import subprocess
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from pathlib import Path

import pytest
from aiohttp import ClientSession, web

from gpuyard_extender import main, settings
from gpuyard_extender.ledger.ledger import PATHS
from gpuyard_kube.http import HttpApi
from gpuyard_kube.runtime import AsyncioRuntime
from tests.extender.builders import gpu_node, gpu_pod
from tests.extender.served import application

COMMAND = (sys.executable, "-c", "from gpuyard_extender.main import main; main()")


class SmallServer:
    """An API server with one node and one pod, which takes its time for a Binding."""

    def __init__(self) -> None:
        self.watches = asyncio.Semaphore(0)
        self.binding_came, self.go_on = asyncio.Event(), asyncio.Event()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if request.method == "POST":
            self.binding_came.set()
            await self.go_on.wait()
            return web.json_response({}, status=201)
        if "watch" in request.query:
            return await self._watch(request)
        items = {"/api/v1/pods": [gpu_pod("a")], "/api/v1/nodes": [gpu_node("node-1")]}
        return web.json_response({"metadata": {"resourceVersion": "9"}, "items": items.get(request.path, [])})

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        self.watches.release()
        await asyncio.Event().wait()
        return response


async def start(url: str) -> tuple[Process, str, list[str]]:
    """The process, its address, and its log so far."""
    process = await asyncio.create_subprocess_exec(
        *COMMAND, "--api", url, "--port", "0", "--log-format", "json", stderr=PIPE, stdout=DEVNULL
    )
    assert process.stderr is not None
    log: list[str] = []
    async for line in process.stderr:
        log.append(line.decode())
        if found := re.search(r"running on (http://[0-9.:]+)", log[-1]):
            return process, found[1], log
    raise AssertionError("".join(log))


async def drain() -> tuple[int, object, list[str]]:
    """Exit code, the answer to a Bind that was in flight at SIGTERM, and the log."""
    server = SmallServer()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", server.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    process, url, log = await start(f"http://127.0.0.1:{runner.addresses[0][1]}")
    for _ in PATHS:
        await server.watches.acquire()
    args = {"PodName": "a", "PodNamespace": "default", "PodUID": "uid-a", "Node": "node-1"}
    async with ClientSession() as session:
        bind = asyncio.create_task(_post(session, f"{url}/bind", args))
        await server.binding_came.wait()
        process.send_signal(signal.SIGTERM)
        server.go_on.set()
        answer = await bind
    _, rest = await process.communicate()
    await runner.cleanup()
    return await process.wait(), answer, [*log, *rest.decode().splitlines()]


async def _post(session: ClientSession, url: str, body: object) -> object:
    async with session.post(url, json=body) as response:
        return await response.json()


def test_sigterm_answers_the_bind_in_flight_and_ends_cleanly() -> None:
    code, answer, log = asyncio.run(drain())
    assert (code, answer) == (0, {"Error": ""}), "\n".join(log)
    assert all(json.loads(line)["level"] == "info" for line in log)


def test_help_names_every_setting(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["gpuyard-extender", "--help"])
    with pytest.raises(SystemExit, match="0"):
        main.main()
    text = capsys.readouterr().out
    for option in ("--kubeconfig", "--api", "--host", "--port", "--policy", "--log-format"):
        assert option in text


def test_an_unknown_policy_ends_with_code_2_and_the_choices(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["gpuyard-extender", "--policy", "tetris"])
    with pytest.raises(SystemExit, match="2"):
        main.main()
    assert "pack" in capsys.readouterr().err


def test_a_kubeconfig_that_cannot_be_read_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("contexts: [")
    command = [*COMMAND, "--kubeconfig", str(tmp_path / "config")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "--kubeconfig FILE or --api URL" in ended.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        (["--tls-cert", "a.crt"], "give both --tls-cert and --tls-key"),
        (["--tls-key", "a.key"], "give both --tls-cert and --tls-key"),
        (["--client-ca", "ca.crt"], "add --tls-cert and --tls-key"),
        (
            ["--api", "http://127.0.0.1:9", "--tls-cert", "a.crt", "--tls-key", "a.key"],
            "give PEM files that fit",
        ),
    ],
)
def test_certificates_that_cannot_be_used_end_with_code_2_and_a_remedy(
    given: list[str], remedy: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["gpuyard-extender", *given])
    with pytest.raises(SystemExit, match="2"):
        main.main()
    assert remedy in capsys.readouterr().err


@pytest.mark.parametrize(
    ("host", "guarded"),
    [
        ("127.0.0.1", False),
        ("::1", False),
        ("localhost", False),
        ("0.0.0.0", True),
        ("10.0.0.1", True),
        ("h", True),
    ],
)
def test_tokens_are_asked_for_where_somebody_else_can_connect(host: str, guarded: bool) -> None:
    given = settings.read(["--host", host])
    guard = main._guarded(application(), given, HttpApi.__new__(HttpApi), AsyncioRuntime())
    assert (guard._reviewer is not None) is guarded


def test_a_log_of_decisions_that_cannot_be_written_is_said_at_the_start(
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = settings.read(["--decisions", "/nowhere/decisions"])
    with pytest.raises(SystemExit) as ended:
        main._book(given)
    assert ended.value.code == 2
    assert "--decisions /nowhere/decisions: No such file or directory; name a file" in capsys.readouterr().err


def test_it_may_have_more_connections_than_shells_allow() -> None:
    async def limits() -> str:
        process, _, _ = await start("http://127.0.0.1:1")
        found = Path(f"/proc/{process.pid}/limits").read_text()
        process.send_signal(signal.SIGTERM)
        await process.wait()
        return found

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        found = asyncio.run(limits())
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert re.search(rf"Max open files +{hard} +{hard} ", found)
