"""A part that dies alone."""

from gpuyard_cluster.clock import Death, Steps
from gpuyard_cluster.scopes import Scope
from tests.stepping import settle


def test_a_part_that_died_does_nothing_more_and_the_others_go_on() -> None:
    clock, log = Steps(start=0.0), list[str]()
    doomed, other = Scope(clock), Scope(clock)

    async def tick(name: str) -> None:
        for _ in range(3):
            log.append(name)
            await clock.sleep_until(clock.now() + 1.0)

    doomed.spawn(tick("doomed"), "doomed")
    other.spawn(tick("other"), "other")
    settle(clock)
    doomed.end()
    while (following := clock.next_at()) is not None:
        clock.advance_to(following)
        clock.step()
    assert log == ["doomed", "other", "other", "other"]


def test_a_part_that_dies_within_its_own_work_leaves_it_on_the_spot() -> None:
    clock, log = Steps(start=0.0), list[str]()
    part = Scope(clock)

    async def work() -> None:
        log.append("before")
        part.end()
        raise Death

    part.spawn(work(), "work")
    assert clock.step() == "work"
    assert log == ["before"]
    assert clock.next_at() is None
