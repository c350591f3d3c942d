"""The stream: news at most every 200 ms, looked for once for all, and for nobody who is not there."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from gpuyard_extender.web.ui import broadcast
from gpuyard_extender.web.ui.broadcast import Broadcast
from gpuyard_extender.web.ui.painting import Painter
from tests.extender.builders import Stage, gpu_node, gpu_pod


class Watched(Painter):
    """Counts how often it is asked."""

    asked = 0

    def paint(self, now: float) -> Iterator[None]:
        self.asked += 1
        return super().paint(now)


class Scene:
    def __init__(self, *nodes: Any) -> None:
        self.stage = Stage(*nodes)
        self.painter = Watched(self.stage.extender)
        self.broadcast = Broadcast(self.painter, self.stage.clock)

    def listen(self, last: str = "", reads: int = 1000) -> list[str]:
        """What a listener hears, which reads so often and then no more, but stays."""
        heard: list[str] = []

        async def work() -> None:
            async for event in self.broadcast.listen(last):
                heard.append(event.decode())
                if len(heard) == reads:
                    await self.stage.clock.signal().wait()

        self.stage.clock.spawn(work(), "listener")
        return heard


def messages(heard: list[str]) -> list[Any]:
    return [
        json.loads(line[6:]) for event in heard for line in event.splitlines() if line.startswith("data: ")
    ]


def last_id(heard: list[str]) -> str:
    return next(
        line[4:] for event in reversed(heard) for line in event.splitlines() if line.startswith("id: ")
    )


def test_changes_of_one_moment_are_told_together_200_ms_later_at_most() -> None:
    scene = Scene(gpu_node("node-1"))
    heard = scene.listen()
    scene.stage.wait(1)
    before = len(messages(heard))
    scene.stage.create(*(gpu_pod(f"pod-{n}") for n in range(30)))
    scene.stage.wait(0.2)
    [news] = messages(heard)[before:]
    assert (len(news["pods"]), news["nodes"], news["reset"]) == (30, {}, False)


def test_while_nothing_changes_a_sign_of_life_comes_and_no_message() -> None:
    scene = Scene(gpu_node("node-1"))
    heard = scene.listen()
    scene.stage.wait(1)
    before = len(heard)
    scene.stage.wait(25)
    assert set(heard[before:]) == {": still here\n\n"}
    assert 1 <= len(heard) - before <= 3


def test_nobody_looks_at_the_ledger_while_nobody_listens_and_once_for_all_who_do() -> None:
    scene = Scene(gpu_node("node-1"))
    scene.stage.wait(5)
    assert scene.painter.asked == 0
    for _ in range(20):
        scene.listen()
    scene.stage.wait(10)
    assert 49 <= scene.painter.asked <= 51


def test_a_listener_that_reads_no_more_costs_the_others_nothing_and_is_told_the_newest_when_it_comes_again() -> (
    None
):
    scene = Scene(gpu_node("node-1"))
    slow, quick = scene.listen(reads=3), scene.listen()
    for number in range(10):
        scene.stage.create(gpu_pod(f"pod-{number}"))
        scene.stage.wait(0.4)
    assert len(messages(slow)) == 2
    assert len(messages(quick)) >= 10
    again = scene.listen(last_id(slow))
    scene.stage.wait(0.1)
    [missed] = messages(again)
    known = {uid for message in messages(slow) for uid in message["pods"]}
    assert (len(known | missed["pods"].keys()), missed["reset"]) == (10, False)


@pytest.mark.parametrize(
    "last", ["", "nonsense", "1.0/7", "1700000000.000/-1", "1700000000.000/99999999999999999"]
)
def test_an_id_of_nobody_or_of_another_extender_begins_anew(last: str) -> None:
    scene = Scene(gpu_node("node-1"))
    heard = scene.listen(last)
    scene.stage.wait(1)
    assert messages(heard)[0]["reset"] is True


def test_a_stream_ends_after_ten_minutes_so_that_the_token_is_looked_at_again() -> None:
    scene = Scene(gpu_node("node-1"))
    scene.listen()
    scene.stage.wait(broadcast.LONGEST_SECONDS + 1)
    assert scene.broadcast.listeners == 0
    asked = scene.painter.asked
    scene.stage.wait(60)
    assert scene.painter.asked <= asked + 1


def test_there_is_room_for_so_many_listeners_and_for_none_after_the_end() -> None:
    scene = Scene(gpu_node("node-1"))
    heard = [scene.listen() for _ in range(broadcast.MOST_LISTENERS + 1)]  # all at one moment
    scene.stage.wait(1)
    assert scene.broadcast.full
    assert [bool(found) for found in heard] == [True] * broadcast.MOST_LISTENERS + [False]
    scene.broadcast.close()
    scene.stage.wait(1)
    assert (scene.broadcast.listeners, scene.broadcast.full) == (0, True)


def test_a_ledger_that_takes_long_to_look_at_is_looked_at_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(gpu_node("node-1"))

    def slowly(_now: float) -> Iterator[None]:
        scene.painter.asked += 1
        scene.stage.clock._now += 0.1
        yield

    monkeypatch.setattr(scene.painter, "paint", slowly)
    scene.listen()
    scene.stage.settle()
    scene.stage.wait(20)
    assert 8 <= scene.painter.asked <= 11


def test_a_reader_that_leaves_is_forgotten() -> None:
    scene = Scene(gpu_node("node-1"))

    async def visit() -> None:
        told = scene.broadcast.listen()
        await anext(told)
        assert scene.broadcast.listeners == 1
        await told.aclose()  # type: ignore[attr-defined]

    asyncio.run(visit())
    assert scene.broadcast.listeners == 0
    scene.stage.clock.close()
