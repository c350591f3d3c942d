"""`gpuyard explain queue`: who holds what of a quota, and who waits in which order."""

import argparse
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gpuyard_cli import extender_access
from gpuyard_cli.main import main
from tests.gang_operator.recorder import Recorder
from tests.gang_operator.world import World


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    found = World()

    @asynccontextmanager
    async def connected(_arguments: argparse.Namespace) -> AsyncIterator[tuple[Recorder, None]]:
        yield found.api, None

    monkeypatch.setattr(extender_access, "connected", connected)
    return found


def test_a_queue_says_what_is_used_and_who_waits_in_order(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.node("node-1", gpus=8)
    world.queue("red", gpus=4)
    for name, pods in (("a", 3), ("large", 4), ("small", 1)):
        world.group(name, queue="red", minMember=pods)
        for number in range(pods):
            world.pod(f"{name}-{number}", group=name)
        world.advance(1)
    assert main(["explain", "queue", "red"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "queue red: 2 waiting, 1 with what they need",
        "  nvidia.com/gpu: 3 of 4 used",
        "  held by default/a",
        "    1. default/large: QuotaExceeded",
        "       queue red: nvidia.com/gpu: needs 4, 1 left of 4; first in queue red",
        "    2. default/small: QueuedBehind",
        "       position 2 in queue red, behind default/large; what is left of the quota is set aside for those",
    ]


def test_a_queue_that_is_not_there_is_said_to_be_missing(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", "queue", "blue"]) == 2
    assert "queue blue: there is none" in capsys.readouterr().err
