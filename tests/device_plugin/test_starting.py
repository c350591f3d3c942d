"""An API server that is late is waited for, for a while; all else is said at once."""

import asyncio
from pathlib import Path

import pytest

from gpuyard import vocabulary
from gpuyard.writes import JSON, Reply, Write
from gpuyard_device_plugin import starting
from gpuyard_device_plugin.assembly import SetupError
from gpuyard_kube.runtime import AsyncioRuntime

AWAY = Reply(503, {"message": "connection refused"})
NODE: JSON = {"metadata": {"name": "node-1", "labels": {vocabulary.FAKE_GPUS: "true"}}}


class Answering:
    """An API server that gives these answers, and the last one for ever."""

    def __init__(self, *answers: Reply) -> None:
        self.answers = list(answers)

    async def read(self, path: str, **query: str) -> Reply:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    async def send(self, write: Write) -> Reply:
        raise AssertionError(write)


async def start(folder: Path, *answers: Reply) -> JSON:
    runtime = AsyncioRuntime()
    try:
        return await starting.node(Answering(*answers), runtime, "node-1", folder)
    finally:
        await runtime.close()


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting, "RETRY_SECONDS", 0.0)


def test_an_api_server_that_is_late_is_waited_for(tmp_path: Path) -> None:
    assert asyncio.run(start(tmp_path, AWAY, AWAY, Reply(200, NODE))) == NODE


def test_an_api_server_that_stays_away_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting, "PATIENCE_SECONDS", 0.01)
    with pytest.raises(SetupError, match="node node-1: connection refused"):
        asyncio.run(start(tmp_path, AWAY))


def test_a_node_that_is_not_there_is_not_waited_for(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="not found; check --node-name"):
        asyncio.run(start(tmp_path, Reply(404, {"message": "not found"}), Reply(200, NODE)))


def test_everything_that_speaks_against_it_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "nvidia-gpu.sock").touch()
    foreign: JSON = {"metadata": {"name": "node-1", "labels": {"nvidia.com/gpu.product": "Tesla-T4"}}}
    with pytest.raises(SetupError) as refused:
        asyncio.run(start(tmp_path, Reply(200, foreign)))
    for found in ("nvidia-gpu.sock", "gpuyard.io/fake-gpus=true", "somebody else wrote"):
        assert found in str(refused.value)
