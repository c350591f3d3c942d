"""Stories of nodes whose kubelet starts anew, that are drained, and that are used again."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from gpuyard import vocabulary
from gpuyard.writes import JSON
from tests.e2e.stories.cluster import Cluster, held, node_of, until


async def pods_keep_their_devices_when_the_kubelet_restarts_and_new_ones_are_served(cluster: Cluster) -> None:
    """Also where an init container, which has ended, had the GPU first."""
    [node, *_] = await cluster.nodes()
    one = {"limits": {vocabulary.GPU: "1"}}
    init = {"name": "first", "image": "busybox:1.36", "command": ["sh", "-c", "env"], "resources": one}
    first, second = [f"early-{n}" for n in range(3)], [f"late-{n}" for n in range(5)]
    await asyncio.gather(
        *(cluster.submit(name, node=node) for name in first[1:]),
        cluster.submit(first[0], node=node, initContainers=[init]),
    )
    before = await cluster.running(first)
    await cluster.hands.restart_kubelet(node)
    await asyncio.gather(*(cluster.submit(name, node=node) for name in second))
    after = await cluster.running([*first, *second])
    assert [life(after[name]) for name in first] == [life(before[name]) for name in first]
    await cluster.sound()


async def what_a_drained_node_held_goes_elsewhere_and_comes_back(cluster: Cluster) -> None:
    """A gang that has started goes on; members that were evicted are made anew, and join it."""
    await cluster.gather("ring", 4)
    members = {f"ring-{n}" for n in range(4)}
    await asyncio.gather(*(cluster.submit(name, 4, group="ring") for name in members))
    before = await cluster.running(members)
    node = node_of(before["ring-0"])
    leaving = {name for name in members if node_of(before[name]) == node}
    staying = members - leaving
    await cluster.hands.drain(node)
    await cluster.gone(*leaving)
    assert node not in await cluster.nodes()
    await asyncio.gather(*(cluster.submit(f"{name}-again", 4, group="ring") for name in leaving))
    again = [f"{name}-again" for name in leaving]
    after = await cluster.running([*staying, *again])
    assert [life(after[name]) for name in staying] == [life(before[name]) for name in staying]
    assert all(node_of(after[name]) != node for name in again)
    await cluster.sound()
    await cluster.uncordon(node)
    await cluster.submit("large", 8)
    pods = await cluster.running(["large"])
    assert held(pods["large"]) >= set().union(*(held(before[name]) for name in leaving))
    await cluster.sound()


async def who_waits_for_a_node_that_is_off_is_served_when_it_is_back(
    cluster: Cluster, off: Callable[[str], AbstractAsyncContextManager[None]]
) -> None:
    """X25. A node is `off` for as long as the block lasts; what is there, 6 GPUs, keeps its devices meanwhile."""
    *others, node = await cluster.nodes()
    full = [f"full-{number}" for number in range(len(others))]
    await asyncio.gather(
        *(cluster.submit(name, 8, node=other) for name, other in zip(full, others, strict=True))
    )
    await cluster.submit("there", 6, node=node)
    before = await cluster.running(["there", *full])
    async with off(node):
        await until(lambda: is_lost(cluster, node), f"{node} is not ready")
        await cluster.submit("heir", 2)
        await until(lambda: waits(cluster, "heir"), "the heir waits")
        assert held((await cluster.pods())["there"]) == held(before["there"])
        await cluster.sound()
    after = await cluster.running(["heir", *full])
    assert node_of(after["heir"]) == node
    await cluster.sound()


async def waits(cluster: Cluster, name: str) -> bool:
    """Whether a pod says that it waits for GPUs; of a node that is away nobody speaks."""
    return await cluster.hands.code(cluster.namespace, name) == "InsufficientGPUs"


async def is_lost(cluster: Cluster, node: str) -> bool:
    return ready(await cluster.node(node)) == "Unknown"


def ready(node: JSON) -> str:
    return next(str(c["status"]) for c in node["status"]["conditions"] if c["type"] == "Ready")


def life(pod: JSON) -> tuple[object, ...]:
    """What stays as it is while a pod goes on undisturbed."""
    containers = pod["status"]["containerStatuses"]
    return (
        pod["metadata"]["uid"],
        sorted(held(pod)),
        [(found["containerID"], found["restartCount"]) for found in containers],
    )
