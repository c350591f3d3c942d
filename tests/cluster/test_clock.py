"""Time that moves only when told."""

import pytest

from gpuyard_cluster import clock as clock_module
from gpuyard_cluster.clock import Steps
from tests.stepping import settle


def test_items_run_one_at_a_time_in_the_order_of_their_queueing() -> None:
    clock, log = Steps(start=100.0), list[str]()
    for name in ("first", "second"):
        clock.call_at(100.0, name, lambda name=name: log.append(name))  # type: ignore[misc]
    assert clock.step() == "first"
    assert log == ["first"]
    assert (clock.step(), clock.step()) == ("second", None)


def test_an_item_for_later_runs_only_after_time_was_moved() -> None:
    clock, log = Steps(start=100.0), list[float]()
    clock.call_at(105.0, "later", lambda: log.append(clock.now()))
    assert clock.step() is None
    assert clock.next_at() == 105.0
    clock.advance_to(105.0)
    assert clock.step() == "later"
    assert log == [105.0]


def test_time_never_goes_back_and_never_jumps_over_work() -> None:
    clock = Steps(start=100.0)
    clock.call_at(105.0, "due", lambda: None)
    with pytest.raises(ValueError, match="step to it first"):
        clock.advance_to(106.0)
    with pytest.raises(ValueError, match="does not go back"):
        clock.advance_to(99.0)
    assert clock.now() == 100.0


def test_work_that_goes_on_for_ever_at_one_moment_is_an_error_that_names_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clock_module, "MOST_AT_ONCE", 100)
    clock = Steps(start=5.0)

    def again() -> None:
        clock.call_at(clock.now(), "again", again)

    again()
    for _ in range(100):
        clock.step()
    with pytest.raises(RuntimeError, match="stands still at 5.0: 'again'"):
        clock.step()


def test_however_much_happens_time_goes_on_where_it_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock_module, "MOST_AT_ONCE", 100)
    clock = Steps(start=0.0)
    for moment in range(3):
        for _ in range(100):
            clock.call_at(float(moment), "due", lambda: None)
    for moment in range(3):
        clock.advance_to(float(moment))
        while clock.step():
            pass


def test_work_sleeps_until_its_moment_and_goes_on_then() -> None:
    clock, log = Steps(start=0.0), list[float]()

    async def work() -> None:
        log.append(clock.now())
        await clock.sleep_until(3.0)
        log.append(clock.now())

    clock.spawn(work(), "work")
    clock.step()
    assert log == [0.0]
    clock.advance_to(3.0)
    settle(clock)
    assert log == [0.0, 3.0]


def test_a_signal_wakes_everyone_who_waits_and_a_deadline_those_who_waited_in_vain() -> None:
    clock, log = Steps(start=0.0), list[tuple[str, bool]]()
    signal = clock.signal()

    async def wait(name: str, until: float | None) -> None:
        log.append((name, await signal.wait(until)))

    clock.spawn(wait("patient", None), "patient")
    clock.spawn(wait("hasty", 1.0), "hasty")
    settle(clock)
    clock.advance_to(1.0)
    settle(clock)
    assert log == [("hasty", False)]
    signal.fire()
    settle(clock)
    assert log == [("hasty", False), ("patient", True)]
    assert clock.next_at() is None, "a wait that is over leaves no timer behind"


def test_work_that_must_not_wait_is_refused_when_it_does() -> None:
    clock = Steps()

    async def answer() -> int:
        return 42

    assert clock.complete(answer()) == 42
    with pytest.raises(RuntimeError, match="spawn it instead"):
        clock.complete(clock.sleep_until(clock.now() + 1))


def test_an_exception_in_spawned_work_reaches_the_one_who_steps() -> None:
    clock = Steps()

    async def fail() -> None:
        raise LookupError("lost")

    clock.spawn(fail(), "fail")
    with pytest.raises(LookupError, match="lost"):
        clock.step()


def test_closing_drops_work_that_has_not_begun_and_work_that_waits() -> None:
    clock, log = Steps(start=0.0), list[str]()

    async def work(name: str) -> None:
        try:
            await clock.sleep_until(5.0)
        finally:
            log.append(f"{name} dropped")

    clock.spawn(work("waiting"), "waiting")
    clock.step()
    clock.spawn(work("new"), "new")
    clock.close()
    assert log == ["waiting dropped"]
    assert clock.next_at() is None
