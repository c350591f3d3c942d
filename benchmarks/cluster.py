"""What an embedded cluster costs: its start, an idle node, and pods from creation to Running.

Run as `python -m benchmarks.cluster --nodes 100 --pods 300`. Everything runs in this process; wall time suffers
from what else the machine does, processor time less so.
"""

import argparse
import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from gpuyard import yard
from gpuyard.writes import JSON, Write
from gpuyard_cluster.wiring.embedded import EmbeddedYard

GPUS, PAGE = 8, 4096
PODS = "/api/v1/namespaces/default/pods"


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


def memory() -> float:
    """Resident, in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / 1e6


async def measured(name: str, until: Callable[[], Awaitable[bool]]) -> None:
    wall, cpu, before = time.time(), time.process_time(), memory()
    while not await until():
        await asyncio.sleep(0.5)
    took = f"{time.time() - wall:.1f} s, {time.process_time() - cpu:.1f} s of CPU"
    print(f"{name}: {took}, {memory() - before:+.0f} MB")


async def work(count: int, pods: int) -> None:
    before, wall, cpu = memory(), time.time(), time.process_time()
    async with EmbeddedYard(nodes(count)) as cluster:

        async def offered() -> bool:
            found = (await cluster.api.read("/api/v1/nodes")).body["items"]
            ready = sum(node["status"]["allocatable"].get("nvidia.com/gpu") == str(GPUS) for node in found)
            return ready == count

        async def running() -> bool:
            return (
                len((await cluster.api.read(PODS, fieldSelector="status.phase=Running")).body["items"])
                == pods
            )

        while not await offered():
            await asyncio.sleep(0.5)
        print(f"{count} nodes up: {time.time() - wall:.1f} s, {time.process_time() - cpu:.1f} s of CPU")
        await asyncio.sleep(2)
        print(f"idle: {memory() - before:.0f} MB more than before the cluster")
        for number in range(pods):
            await cluster.api.send(Write("POST", PODS, pod(number)))
        await measured(f"{pods} pods run", running)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--pods", type=int, default=300)
    arguments = parser.parse_args()
    asyncio.run(work(arguments.nodes, arguments.pods))
