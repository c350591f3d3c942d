"""Real time: signals, tasks and deadlines on asyncio, and a clock that never steps."""

import asyncio
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard_kube.runtime import DRIFT, AsyncioRuntime, Clock

HOUR = 3600.0


@dataclass
class Machine:
    """A machine whose wall clock somebody sets, by so many seconds in all."""

    passed: float = 0.0
    set_by: float = 0.0

    def wall(self) -> float:
        return 1_700_000_000.0 + self.passed + self.set_by

    def clock(self) -> Clock:
        return Clock(self.wall, lambda: self.passed)


@pytest.mark.parametrize("step", [HOUR, -HOUR])
def test_a_wall_clock_that_is_set_moves_no_deadline_by_more_than_a_tenth(step: float) -> None:
    machine = Machine()
    runtime = AsyncioRuntime(machine.clock())
    deadline = runtime.now() + 60
    machine.set_by = step
    machine.passed = 60 / (1 + DRIFT) - 1
    assert runtime.now() < deadline
    machine.passed = 60 / (1 - DRIFT) + 1
    assert runtime.now() > deadline


def test_a_clock_that_nobody_has_read_for_long_counts_the_tenth_from_the_last_reading() -> None:
    machine = Machine()
    clock = machine.clock()
    machine.passed, machine.set_by = HOUR, HOUR
    assert clock.now() == machine.wall() - HOUR * (1 - DRIFT)
    begin = clock.now()
    machine.passed += 10
    assert clock.now() - begin == pytest.approx(10 * (1 + DRIFT))


@pytest.mark.parametrize("step", [60.0, -60.0])
def test_a_wall_clock_that_was_set_by_a_minute_is_caught_up_with_in_ten_and_in_a_new_process_at_once(
    step: float,
) -> None:
    machine = Machine()
    clock = machine.clock()
    machine.set_by = step
    machine.passed = 590.0
    assert clock.now() != machine.wall()
    assert machine.clock().now() == machine.wall()
    machine.passed = 600.1
    assert clock.now() == machine.wall()


def test_a_process_that_a_step_met_sleeps_until_its_own_clock_says_so() -> None:
    async def scene() -> float:
        machine = Machine()

        def steady() -> float:  # each reading takes a moment, so that no test waits
            machine.passed += 0.001
            return machine.passed

        runtime = AsyncioRuntime(Clock(machine.wall, steady))
        until = runtime.now() + 0.02
        machine.set_by = -HOUR
        await asyncio.wait_for(runtime.sleep_until(until), 10)
        return runtime.now() - until

    assert asyncio.run(scene()) >= 0


@settings(max_examples=50)
@given(st.lists(st.tuples(st.floats(0, 1e5), st.floats(-1e9, 1e9)), max_size=20))
def test_between_any_two_readings_passes_what_has_passed_give_or_take_a_tenth(
    life: list[tuple[float, float]],
) -> None:
    machine = Machine()
    clock = machine.clock()
    readings = [(0.0, clock.now())]
    for span, step in life:
        machine.passed += span
        machine.set_by += step
        readings.append((machine.passed, clock.now()))
    for i, (at, told) in enumerate(readings):
        for later_at, later in readings[i + 1 :]:
            span = later_at - at
            assert (1 - DRIFT) * span - 1e-3 <= later - told <= (1 + DRIFT) * span + 1e-3


def test_a_signal_wakes_its_waiters_and_a_deadline_in_the_past_ends_the_wait() -> None:
    async def scene() -> list[bool]:
        runtime = AsyncioRuntime()
        signal, woken = runtime.signal(), list[bool]()

        async def wait() -> None:
            woken.append(await signal.wait())

        runtime.spawn(wait(), "waiter")
        await asyncio.sleep(0)
        signal.fire()
        woken_late = await signal.wait(runtime.now())
        await asyncio.sleep(0)
        await runtime.close()
        return [*woken, woken_late]

    assert asyncio.run(scene()) == [True, False]


def test_the_exception_of_a_task_is_reported() -> None:
    async def scene() -> list[str]:
        reports: list[str] = []
        asyncio.get_running_loop().set_exception_handler(
            lambda _, context: reports.append(context["message"])
        )
        runtime, ended = AsyncioRuntime(), asyncio.Event()

        async def fail() -> None:
            ended.set()
            raise LookupError("lost")

        runtime.spawn(fail(), "search")
        await ended.wait()
        await asyncio.sleep(0)
        return reports

    assert asyncio.run(scene()) == ["task search failed"]


def test_closing_ends_every_task() -> None:
    async def scene() -> bool:
        runtime = AsyncioRuntime()
        runtime.spawn(runtime.sleep_until(runtime.now() + 3600), "sleeper")
        await asyncio.wait_for(runtime.close(), 10)
        return True

    assert asyncio.run(scene())
