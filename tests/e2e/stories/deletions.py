"""Stories of pods that are deleted at every moment of their lives: what they held goes to the next, once."""

import asyncio

from tests.e2e.stories.cluster import Cluster, held, node_of, until

NOBODY = "no-such-scheduler"
"""Nobody asks the extender for a pod of this scheduler."""


async def a_pod_that_is_deleted_while_it_waits_leaves_its_turn_to_others(cluster: Cluster) -> None:
    await asyncio.gather(*(cluster.submit(f"old-{n}", gpus=8) for n in range(3)))
    await cluster.running(f"old-{n}" for n in range(3))
    await cluster.submit("waits", gpus=8)
    await cluster.submit("next", gpus=8)

    async def both_say_why() -> bool:
        codes = [await cluster.hands.code(cluster.namespace, name) for name in ("waits", "next")]
        return codes == ["InsufficientGPUs"] * 2

    await until(both_say_why, "both say why they wait")
    await cluster.delete("waits", "old-1")
    pods = await cluster.running(["next"])
    assert "waits" not in pods
    await cluster.sound()


async def a_pod_that_is_deleted_while_it_runs_gives_its_devices_to_the_next(cluster: Cluster) -> None:
    names = [f"old-{n}" for n in range(3)]
    await asyncio.gather(*(cluster.submit(name, gpus=8) for name in names))
    before = await cluster.running(names)
    await asyncio.gather(
        cluster.delete("old-0", "old-2"), cluster.submit("heir-0", 8), cluster.submit("heir-1", 8)
    )
    after = await cluster.running(["old-1", "heir-0", "heir-1"])
    assert held(after["heir-0"]) | held(after["heir-1"]) == held(before["old-0"]) | held(before["old-2"])
    await cluster.sound()


async def a_gang_member_that_is_deleted_while_the_others_are_held_takes_nothing_along(
    cluster: Cluster,
) -> None:
    """One member never comes to its Bind, so that the others are held at the barrier again and again."""
    await cluster.gather("ring", 3)
    names = ["ring-0", "ring-1", "ring-2"]
    await cluster.submit("ring-0", 8, group="ring", schedulerName=NOBODY)
    await asyncio.gather(*(cluster.submit(name, 8, group="ring") for name in names[1:]))
    await cluster.let_go()
    await cluster.delete("ring-1")
    await cluster.gone("ring-1")
    assert not any(map(node_of, (await cluster.pods()).values()))
    await cluster.delete("ring-0")
    await cluster.gone("ring-0")
    await asyncio.gather(*(cluster.submit(f"ring-{n}", 8, group="ring") for n in (3, 4)))
    await cluster.running(["ring-2", "ring-3", "ring-4"])
    await cluster.sound()


async def pods_that_are_deleted_while_one_is_in_allocate_leave_their_devices_free(cluster: Cluster) -> None:
    [node, *_] = await cluster.nodes()
    await cluster.submit("old", 4, node=node)
    await cluster.running(["old"])
    async with cluster.hands.held_allocations(node):
        await cluster.submit("first", 2, node=node)
        await cluster.bound("first")
        await cluster.submit("second", 2, node=node)
        await cluster.bound("second")
        await cluster.delete("old", "first")
    await cluster.gone("old", "first")
    await cluster.submit("heir", 6, node=node)
    pods = await cluster.running(["second", "heir"])
    assert len(held(pods["second"]) | held(pods["heir"])) == 8
    await cluster.sound()
