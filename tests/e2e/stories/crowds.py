"""A story of many pods at once."""

import asyncio

from tests.e2e.stories.cluster import Cluster, node_of, runs, until


async def of_30_pods_on_24_gpus_24_run_and_6_say_why(cluster: Cluster) -> None:
    names = [f"one-{n}" for n in range(30)]
    await asyncio.gather(*map(cluster.submit, names))

    async def settled() -> bool:
        pods = await cluster.pods()
        waiting = [name for name, pod in pods.items() if not node_of(pod)]
        codes = [await cluster.hands.code(cluster.namespace, name) for name in waiting]
        return len(list(filter(runs, pods.values()))) == 24 and codes == ["InsufficientGPUs"] * 6

    await until(settled, "24 of 30 run, 6 wait for a GPU")
    await cluster.sound()
