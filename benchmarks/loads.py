"""What a scheduler with our extender is put under: pods that no node takes, and changes that wake them all."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from benchmarks.extender import binding
from benchmarks.grounds import NAMESPACE, Ground
from gpuyard.writes import Write
from gpuyard_kube.http import HttpApi

NOWHERE = "H100"
"""No made-up node has this model: kube-scheduler's own filters pass them, and only the extender refuses."""
PICKY = 10
CONNECTIONS = 8
CHANGES_A_SECOND, COMERS_A_SECOND = 10, 2
_SAMPLE = re.compile(
    r'^gpuyard_extender_verb_duration_seconds_(sum|count)\{verb="(\w+)"\} (\S+)$', re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Verbs:
    """What an extender says of its verbs."""

    extender: HttpApi

    async def spent(self) -> tuple[float, int]:
        """Seconds in Filter and Prioritize, during which kube-scheduler waits, and calls of Filter."""
        text = str((await self.extender.read("/metrics")).body["message"])
        found = {(verb, kind): float(value) for kind, verb, value in _SAMPLE.findall(text)}
        seconds = sum(found.get((verb, "sum"), 0.0) for verb in ("filter", "prioritize"))
        return seconds, int(found.get(("filter", "count"), 0))


@dataclass(frozen=True, slots=True)
class Refusals:
    """Pods that no node takes, at the end of a queue of others."""

    ground: Ground
    extender: HttpApi
    scheduler: str

    async def waits(self, others: int) -> tuple[list[float], list[float]]:
        """Seconds from the creation of each until `explain` says why, and until its condition does."""
        ground = self.ground
        _, explained = await asyncio.gather(ground.come(others, self.scheduler), self._explained())
        await ground.until(lambda: ground.told.keys() >= explained.keys(), "all of them are told")
        told = [ground.told[name] - ground.created[name] for name in explained]
        await ground.leave()
        return list(explained.values()), told

    async def _explained(self) -> dict[str, float]:
        waits: dict[str, float] = {}
        for name in await self.ground.come(PICKY, self.scheduler, NOWHERE):
            code = await self.ground.until_explained(name, self.extender)
            assert code == "GPUModelMismatch", code
            waits[name] = time.perf_counter() - self.ground.created[name]
        return waits


@dataclass(frozen=True, slots=True)
class Binds:
    """Bindings through the extender, and without it, to the same API server and over as many connections."""

    ground: Ground
    extender: HttpApi

    async def rates(self, count: int) -> tuple[float, float]:
        """Binds a second, with and without; half of the pods each, in four turns.

        Some go before, so that the connections are there: to encrypt a new one costs more than a Binding.
        """
        names = await self.ground.come(count + 4 * CONNECTIONS, "nobody")
        await self.ground.until_explained(names[-1], self.extender)
        pods, ways = list(enumerate(names)), (self._ours, self._bare)
        for turn, bind in enumerate(ways):
            await self._spent(pods[count + turn :: 2], bind)
        spent = [await self._spent(pods[turn:count:4], ways[turn % 2]) for turn in range(4)]
        await self.ground.leave()
        return count / 2 / (spent[0] + spent[2]), count / 2 / (spent[1] + spent[3])

    async def _spent(self, pods: list[tuple[int, str]], bind: Callable[[str, str], Awaitable[None]]) -> float:
        slots, started = asyncio.Semaphore(CONNECTIONS), time.perf_counter()

        async def in_turn(number: int, name: str) -> None:
            async with slots:
                # Of ten made-up nodes the first six have whole GPUs.
                await bind(name, self.ground.nodes[number // 6 * 10 % len(self.ground.nodes) + number % 6])

        await asyncio.gather(*(in_turn(*pod) for pod in pods))
        return time.perf_counter() - started

    async def _ours(self, name: str, node: str) -> None:
        asked = {"PodName": name, "PodNamespace": NAMESPACE, "PodUID": self.ground.uids[name], "Node": node}
        answer = await self.extender.send(Write("POST", "/bind", asked))
        assert answer.body["Error"] == "", answer.body

    async def _bare(self, name: str, node: str) -> None:
        path, body = binding(
            {"metadata": {"name": name, "namespace": NAMESPACE, "uid": self.ground.uids[name]}}, node
        )
        answer = await self.ground.api.send(Write("POST", path, body))
        assert answer.ok, answer.reason


@dataclass(frozen=True, slots=True)
class Throng:
    """Many rejected pods, which each change makes kube-scheduler try again."""

    ground: Ground
    verbs: Verbs
    scheduler: str

    async def waits(self, rejected: int, seconds: int) -> tuple[list[float], float, float]:
        """Seconds until others are bound meanwhile; the extender's part of the time; calls of Filter a second."""
        names = await self.ground.come(rejected, self.scheduler, NOWHERE)
        await self.ground.until(lambda: self.ground.told.keys() >= set(names), "all of them are told")
        before, started = await self.verbs.spent(), time.perf_counter()
        comers: list[str] = []
        for tick in range(seconds * CHANGES_A_SECOND):
            await self.ground.change(self.ground.nodes[tick % len(self.ground.nodes)], tick)
            if tick % (CHANGES_A_SECOND // COMERS_A_SECOND) == 0:
                comers += await self.ground.come(1, self.scheduler)
            await asyncio.sleep(max(0.0, started + (tick + 1) / CHANGES_A_SECOND - time.perf_counter()))
        await self.ground.until_bound(comers)
        after, passed = await self.verbs.spent(), time.perf_counter() - started
        waits = [self.ground.bound[name] - self.ground.created[name] for name in comers]
        return waits, (after[0] - before[0]) / passed, (after[1] - before[1]) / passed
