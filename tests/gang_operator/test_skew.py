"""The operator's clock is not that of the API server, and neither that of the extender."""

from collections.abc import Coroutine
from typing import Any

import pytest

from gpuyard_cluster.apiserver.direct import feed
from gpuyard_cluster.clock import Steps
from gpuyard_extender import settings
from gpuyard_kube.runtime import Signal
from gpuyard_operator.cache import PATHS
from gpuyard_operator.deciding.commit import HALF_SECONDS, LEAST_SECONDS
from gpuyard_operator.service import Operator
from tests.gang_operator.world import PLACES_SECONDS, World

SKEWS = [-300, -25, -5, 5, 25, 300]


class OtherSignal:
    def __init__(self, clock: Steps, ahead: float) -> None:
        self._signal, self._ahead = clock.signal(), ahead

    def fire(self) -> None:
        self._signal.fire()

    async def wait(self, until: float | None = None) -> bool:
        return await self._signal.wait(None if until is None else until - self._ahead)


class OtherClock:
    """Time as it is told on a machine whose clock is so many seconds ahead of everybody else's."""

    def __init__(self, clock: Steps, ahead: float) -> None:
        self._clock, self.ahead = clock, ahead

    def now(self) -> float:
        return self._clock.now() + self.ahead

    def steady(self) -> float:
        return self._clock.steady()

    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        self._clock.spawn(work, name)

    async def sleep_until(self, when: float) -> None:
        await self._clock.sleep_until(when - self.ahead)

    def signal(self) -> Signal:
        return OtherSignal(self._clock, self.ahead)


class SkewedWorld(World):
    """The operator's clock is ahead of all others."""

    def __init__(self, ahead: float) -> None:
        super().__init__()
        self.ahead = ahead
        self.restart()

    def restart(self) -> None:
        self.operator.stop()
        self._feed.stop()
        runtime = OtherClock(self.clock, self.ahead)
        self.operator = Operator(self.api, runtime, self, self.told.append, preempts=self.preempts)
        self._feed = feed(self.api.server, self.operator, PATHS, self._hand_over)

    def evictions(self) -> int:
        return sum(write.path.endswith("/eviction") for write in self.api.writes)


def test_the_operator_believes_in_places_for_as_long_as_the_extender_keeps_them() -> None:
    assert LEAST_SECONDS == settings.RESERVATION_SECONDS


def gang(ahead: float, refused: str = "") -> SkewedWorld:
    """A gang of two for which there is room; those that are refused are not bound."""
    world = SkewedWorld(ahead)
    world.node("node-1", 2)
    world.group(minMember=2)
    world.binds_refused.update(refused)
    world.pod("a")
    world.pod("b")
    return world


def half_bound(ahead: float) -> SkewedWorld:
    world = SkewedWorld(ahead)
    for number in (1, 2):
        world.node(f"node-{number}", 1)
    world.group(minMember=2)
    world.binds_refused.add("b")
    world.pod("a")
    world.pod("b")
    world.settle()
    assert world.bound() == {"a": "node-1"}
    return world


@pytest.mark.parametrize("ahead", SKEWS)
def test_a_gang_whose_second_binding_comes_a_second_later_is_left_in_peace(ahead: float) -> None:
    world = half_bound(ahead)
    world.advance(HALF_SECONDS - 1)
    world.binds_refused.clear()
    world.settle()
    world.advance(300)
    assert len(world.bound()) == 2
    assert world.evictions() == 0
    assert world.condition()["status"] == "True"


@pytest.mark.parametrize("ahead", SKEWS)
def test_half_a_gang_is_undone_after_seconds_whatever_the_clock_says(ahead: float) -> None:
    world = half_bound(ahead)
    world.advance(HALF_SECONDS)
    assert world.bound() == {}


@pytest.mark.parametrize("ahead", SKEWS)
def test_an_operator_that_starts_counts_anew_and_comes_to_an_end(ahead: float) -> None:
    world = half_bound(ahead)
    world.advance(HALF_SECONDS - 1)
    world.restart()
    world.advance(HALF_SECONDS - 1)
    assert world.bound() == {"a": "node-1"}
    world.advance(1)
    assert world.bound() == {}


@pytest.mark.parametrize("ahead", SKEWS)
def test_a_gang_starts_after_one_question_whatever_the_clock_says(ahead: float) -> None:
    world = gang(ahead)
    world.advance(300)
    assert len(world.bound()) == 2
    assert len(world.questions) == 1
    assert world.condition()["status"] == "True"
    assert world.places() is None


@pytest.mark.parametrize("ahead", SKEWS)
def test_a_gang_that_is_not_bound_gives_its_places_up_in_the_end_and_asks_anew(ahead: float) -> None:
    world = gang(ahead, refused="ab")
    world.advance(PLACES_SECONDS * 5 - 1)
    assert len(world.questions) <= 5
    world.advance(PLACES_SECONDS * 2)
    assert len(world.questions) > 1
    assert world.evictions() == 0
    assert world.condition()["status"] == "False"


@pytest.mark.parametrize("ahead", SKEWS)
def test_an_operator_that_starts_while_places_are_held_asks_once_more_at_most(ahead: float) -> None:
    world = gang(ahead, refused="ab")
    world.advance(PLACES_SECONDS / 2)
    world.restart()
    world.advance(1)
    world.binds_refused.clear()
    world.advance(30)
    assert len(world.bound()) == 2
    assert len(world.questions) <= 2
    assert world.evictions() == 0
