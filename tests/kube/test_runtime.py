"""Real time: signals, tasks and deadlines on asyncio."""

import asyncio

from gpuyard_kube.runtime import AsyncioRuntime


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
