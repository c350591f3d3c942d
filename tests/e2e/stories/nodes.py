"""Stories of nodes whose kubelet starts anew, that are drained, and that are used again."""

import asyncio

from gpuyard.writes import JSON
from tests.e2e.stories.cluster import Cluster, held, node_of


async def pods_keep_their_devices_when_the_kubelet_restarts_and_new_ones_are_served(cluster: Cluster) -> None:
    [node, *_] = await cluster.nodes()
    first, second = [f"early-{n}" for n in range(3)], [f"late-{n}" for n in range(5)]
    await asyncio.gather(*(cluster.submit(name, node=node) for name in first))
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


def life(pod: JSON) -> tuple[object, ...]:
    """What stays as it is while a pod goes on undisturbed."""
    containers = pod["status"]["containerStatuses"]
    return (
        pod["metadata"]["uid"],
        sorted(held(pod)),
        [(found["containerID"], found["restartCount"]) for found in containers],
    )
