"""Stories of pods that have to leave for more important ones: as few as need be, and in the order that users set."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gpuyard.writes import PatchType, Write
from tests.e2e.stories.cluster import Cluster, node_of, until
from tests.e2e.stories.nodes import life

_CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"


async def a_budget_is_kept_while_another_pod_can_go_and_broken_when_none_can(cluster: Cluster) -> None:
    guarded = {"guarded-0", "guarded-1"}
    await asyncio.gather(*(cluster.submit(name, 8) for name in (*guarded, "free")))
    for name in guarded:
        await label(cluster, name, "guarded")
    await label(cluster, "free", "free")
    await cluster.running([*guarded, "free"])
    await keep(cluster, "guarded", 2)
    async with urgency(cluster) as urgent:
        await cluster.submit("first", 8, priorityClassName=urgent)
        await cluster.running(["first", *guarded])
        assert await left(cluster, 3) == {"first", *guarded}
        await cluster.submit("second", 8, priorityClassName=urgent)
        await cluster.running(["first", "second"])
    [lost] = guarded - await left(cluster, 3)
    await until(lambda: told_of(cluster, {"free", lost}), "two pods have heard that they were preempted")
    await cluster.sound()


async def a_gang_loses_just_the_member_whose_place_is_needed_and_is_joined_again(cluster: Cluster) -> None:
    await cluster.gather("ring", 3)
    members = {f"ring-{n}" for n in range(3)}
    await asyncio.gather(*(cluster.submit(name, 8, group="ring") for name in members))
    before = await cluster.running(members)
    async with urgency(cluster) as urgent:
        await cluster.submit("urgent", 8, priorityClassName=urgent)
        pods = await cluster.running(["urgent"])
    [lost] = members - await left(cluster, 3)
    assert node_of(pods["urgent"]) == node_of(before[lost])
    staying = members - {lost}
    await cluster.delete("urgent")
    await cluster.submit("again", 8, group="ring")
    after = await cluster.running([*staying, "again"])
    assert [life(after[name]) for name in staying] == [life(before[name]) for name in staying]
    await cluster.sound()


@asynccontextmanager
async def urgency(cluster: Cluster) -> AsyncIterator[str]:
    """A class of pods for which others leave, for as long as pods of it are made."""
    name = f"{cluster.namespace}-urgent"
    path = f"{_CLASSES}/{name}"
    await cluster.api.send(Write("DELETE", path))
    await cluster.create(_CLASSES, {"metadata": {"name": name}, "value": 1000})
    try:
        yield name
    finally:
        await cluster.api.send(Write("DELETE", path))


async def left(cluster: Cluster, count: int) -> set[str]:
    """The names of all pods, once there are so many: who has ended gives its place back before it is gone."""

    async def only_these() -> bool:
        return len(await cluster.pods()) == count

    await until(only_these, f"{count} pods are left")
    return set(await cluster.pods())


async def label(cluster: Cluster, pod: str, app: str) -> None:
    write = Write("PATCH", f"{cluster.path}/{pod}", {"metadata": {"labels": {"app": app}}}, PatchType.MERGE)
    reply = await cluster.api.send(write)
    assert reply.ok, reply.reason


async def keep(cluster: Cluster, app: str, least: int) -> None:
    """A disruption budget, once it is known to let nobody go."""
    path = f"/apis/policy/v1/namespaces/{cluster.namespace}/poddisruptionbudgets"
    spec = {"minAvailable": least, "selector": {"matchLabels": {"app": app}}}
    await cluster.create(path, {"metadata": {"name": app}, "spec": spec})

    async def counted() -> bool:
        [budget] = await cluster.items(path)
        status = budget.get("status") or {}
        return (status.get("currentHealthy"), status.get("disruptionsAllowed")) == (least, 0)

    await until(counted, f"{least} pods of {app} are counted")


async def told_of(cluster: Cluster, names: set[str]) -> bool:
    """Whether just these pods were said to be preempted."""
    events = await cluster.items(cluster.events)
    return {each["involvedObject"]["name"] for each in events if each["reason"] == "Preempted"} == names
