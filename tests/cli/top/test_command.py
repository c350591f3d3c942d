"""`gpuyard top` beside an embedded cluster: in a pipe, and in a terminal that somebody looks at."""

import asyncio
import json
import os
import pty
import sys
import termios
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import yaml

from gpuyard import vocabulary
from gpuyard.writes import Reply, Write
from gpuyard.yard import parse
from gpuyard_cli.backends import kind as kind_backend
from gpuyard_cli.main import main
from gpuyard_cli.top.live import frame
from gpuyard_cluster.wiring.embedded import EmbeddedYard
from tests.cli.capture.test_command import kubeconfig, pod, until
from tests.extender.builders import device, gpu_node, gpu_pod

COMMAND = [sys.executable, "-c", "import sys; from gpuyard_cli.main import main; sys.exit(main())", "top"]
NODES = parse({"nodes": [{"name": "n", "gpus": {"model": "NVIDIA-A100-SXM4-40GB", "count": 2}}]})
PODS = "/api/v1/namespaces/default/pods"


async def submit(cluster: EmbeddedYard, name: str) -> None:
    assert (await cluster.api.send(Write("POST", PODS, pod(name, vocabulary.GPU)))).ok


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster with one node of two GPUs, of which one is held."""
    held = gpu_pod("one", node="n", truth=[device("n", 0)])

    class Lists:
        async def read(self, path: str, **_query: str) -> Reply:
            return Reply(200, {"items": [held if path.endswith("pods") else gpu_node("n")]})

    @asynccontextmanager
    async def connected(*_named: str | None) -> AsyncIterator[Lists]:
        yield Lists()

    monkeypatch.setattr(kind_backend, "connected", connected)


@pytest.mark.usefixtures("listed")
def test_a_pipe_gets_one_table_and_programs_get_json_or_yaml(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["top"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("1 node, 2 GPUs: 1 free, 1 taken\n")
    assert told.endswith("default/one\n  1    0     ok      1/1   -\n")
    for form, read in (("json", json.loads), ("yaml", yaml.safe_load)):
        assert main(["top", "--node", "n", "-o", form]) == 0
        [node] = read(capsys.readouterr().out)["nodes"]
        owners = {gpu["uuid"]: [owner["pod"] for owner in gpu["owners"]] for gpu in node["gpus"]}
        assert owners == {device("n", 0): ["default/one"], device("n", 1): []}


@pytest.mark.usefixtures("listed")
def test_a_node_that_is_not_there_is_said_with_a_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["top", "--node", "m"]) == 2
    assert capsys.readouterr().err == "gpuyard: --node: there is no node m; see kubectl get nodes\n"


class Terminal:
    """A pseudo-terminal of 24 lines, and all that was written to it so far."""

    def __init__(self) -> None:
        self.here, self.there = pty.openpty()
        termios.tcsetwinsize(self.there, (24, 100))
        self.mode, self.written = termios.tcgetattr(self.there), ""
        asyncio.get_running_loop().add_reader(self.here, self._read)

    def _read(self) -> None:
        self.written += os.read(self.here, 65536).decode()

    async def says(self, text: str) -> None:
        async def is_written() -> bool:
            return text in self.written

        await until(is_written)

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self.here)
        os.close(self.here)
        os.close(self.there)


async def looked_at(cluster: EmbeddedYard, named: list[str], key: bytes, name: str) -> None:
    """A terminal in which a pod of that name is seen to come, and in which the key ends it."""
    terminal = Terminal()
    # A session of its own, whose terminal this is: Ctrl-C goes to whom it belongs.
    command, tty = ["setsid", "--ctty", "--wait", *COMMAND, *named], terminal.there
    process = await asyncio.create_subprocess_exec(*command, stdin=tty, stdout=tty, stderr=tty)
    try:
        await terminal.says("2 GPUs: ")
        await terminal.says("q ends")
        await submit(cluster, name)
        await terminal.says(f"default/{name}")
        os.write(terminal.here, key)
        assert await process.wait() == 0
        await terminal.says("\x1b[?25h\x1b[?1049l")
        assert termios.tcgetattr(terminal.there) == terminal.mode
        assert "Traceback" not in terminal.written
    finally:
        if process.returncode is None:
            process.kill()
        terminal.close()


async def test_in_a_terminal_changes_are_seen_until_a_key_ends_it_and_all_is_as_before(
    tmp_path: Path,
) -> None:
    async with EmbeddedYard(NODES) as cluster:
        named = ["--kubeconfig", str(kubeconfig(tmp_path / "kubeconfig", cluster.url))]
        keys = {"letter": b"q", "control": b"\x03"}
        async with asyncio.timeout(60), asyncio.TaskGroup() as terminals:
            for name, key in keys.items():
                terminals.create_task(looked_at(cluster, named, key, name))


def test_a_frame_covers_what_was_there_before() -> None:
    assert frame(["one", "two"]) == "\x1b[Hone\x1b[K\r\ntwo\x1b[K\x1b[J"


def test_a_server_that_does_not_answer_is_one_line_with_a_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = kubeconfig(tmp_path / "kubeconfig", "http://127.0.0.1:9")
    assert main(["top", "--kubeconfig", str(config)]) == 2
    assert "cannot be reached" in capsys.readouterr().err
