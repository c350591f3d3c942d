"""What the embedded cluster costs: its start, an idle node, and pods from `apply` to Running.

Run as `python -m benchmarks.yard --nodes 1000 --pods 5000`. The whole cluster runs in this process, with the garbage
collector as `gpuyard up` sets it. Wall time suffers from what else the machine does, processor time less so.
"""

import argparse
import asyncio
import gc
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.sampling import Sampler
from gpuyard import yard
from gpuyard.writes import JSON, Write
from gpuyard_cluster.wiring.embedded import EmbeddedYard

GPUS, PAGE = 8, 4096
PODS = "/api/v1/namespaces/default/pods"
LOOK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Reading:
    """The clocks of one moment, in seconds, and the resident memory in MB."""

    wall: float
    main: float
    """Processor time of the main thread."""
    all: float
    """Of every thread: the operator has one of its own."""
    memory: float

    @classmethod
    def now(cls) -> "Reading":
        memory = int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / 1e6
        return cls(time.time(), time.thread_time(), time.process_time(), memory)

    def since(self, before: "Reading") -> "Reading":
        return Reading(
            self.wall - before.wall,
            self.main - before.main,
            self.all - before.all,
            self.memory - before.memory,
        )

    def __str__(self) -> str:
        return f"{self.wall:.1f} s, {self.all:.1f} s of CPU, {self.memory:+.0f} MB"


def nodes(count: int) -> tuple[yard.YardNode, ...]:
    gpus = {"model": "NVIDIA-A100-SXM4-40GB", "count": GPUS}
    return yard.parse({"nodes": [{"name": f"node-{number}", "gpus": gpus} for number in range(count)]})


def pod(number: int) -> JSON:
    limits = {"nvidia.com/gpu": "1", "cpu": "1"}
    container = {"name": "main", "image": "busybox:1.36", "resources": {"limits": limits}}
    return {
        "metadata": {"name": f"pod-{number}"},
        "spec": {"restartPolicy": "Never", "containers": [container]},
    }


async def until(reached: Callable[[], Awaitable[bool]]) -> None:
    while not await reached():
        await asyncio.sleep(LOOK_SECONDS)


async def work(count: int, pods: int, idle: float) -> None:
    before = Reading.now()
    async with EmbeddedYard(nodes(count)) as cluster:

        async def offered() -> bool:
            found = (await cluster.api.read("/api/v1/nodes")).body["items"]
            return (
                sum(node["status"]["allocatable"].get("nvidia.com/gpu") == str(GPUS) for node in found)
                == count
            )

        async def running() -> bool:
            left = (await cluster.api.read(PODS, fieldSelector="status.phase!=Running", limit="1")).body
            return not left["items"]

        await until(offered)
        up = Reading.now()
        print(f"{count} nodes ready: {up.since(before)}", flush=True)
        await asyncio.sleep(idle)
        at_rest = Reading.now()
        rest, held = at_rest.since(up), at_rest.since(before).memory
        print(
            f"idle: {held:.0f} MB, {held / count:.3f} MB a node, {rest.all / rest.wall:.0%} of a core",
            flush=True,
        )
        with Sampler() as sampler:
            for number in range(pods):
                await cluster.api.send(Write("POST", PODS, pod(number)))
            print(f"{pods} pods created: {Reading.now().since(at_rest)}", flush=True)
            await until(running)
        told(Reading.now().since(at_rest), sampler, pods)


def told(spent: Reading, sampler: Sampler, pods: int) -> None:
    print(f"{pods} pods run: {spent}, {pods / spent.wall:.0f} pods a second")
    parts = {part: share * spent.main for part, share in sampler.shares().items()}
    # It has a thread of its own, except in a large cluster.
    parts["operator"] = parts.get("operator", 0.0) + spent.all - spent.main
    split = ", ".join(f"{part} {1000 * took / pods:.2f}" for part, took in parts.items())
    print(f"ms of CPU a pod: {1000 * spent.all / pods:.2f} ({split})")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--pods", type=int, default=5000)
    parser.add_argument("--idle", type=float, default=12.0, help="seconds to rest before the pods come")
    arguments = parser.parse_args()
    gc.set_threshold(100_000, 50, 100)
    asyncio.run(work(arguments.nodes, arguments.pods, arguments.idle))
