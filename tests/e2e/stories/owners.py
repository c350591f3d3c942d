"""Stories of what the owners of gangs do to them: overwrite, delete and make them again, whatever the moment."""

import asyncio
from typing import Final

from gpuyard.writes import JSON, Write
from gpuyard_kube.conditions import condition
from tests.e2e.stories.cluster import Cluster, until

ROOM: Final = 256 * 1024
"""So many bytes the annotations of an object may have in all."""


async def a_group_that_is_full_of_annotations_and_overwritten_meanwhile_ends_all_the_same(
    cluster: Cluster,
) -> None:
    """G57, G58: training operators copy all of a job's annotations, Spark's wipes what others have written."""
    full = {"owner.example/job": "x" * (ROOM - len("owner.example/job"))}
    names = [f"ring-{number}" for number in range(4)]
    await cluster.gather("ring", 4)
    await until(lambda: _overwritten(cluster, full), "it has as many annotations as the API server takes")
    await asyncio.gather(*(cluster.submit(name, 2, group="ring") for name in names[:3]))
    over = asyncio.Event()
    wiping = asyncio.create_task(_overwrite_until(over, cluster))
    try:
        await cluster.submit(names[3], 2, group="ring")
        await cluster.running(names)
        await _until_says(cluster, "Ready")
    finally:
        over.set()
        wiped = await wiping
    assert wiped > 0
    assert not (await _group(cluster))["metadata"].get("annotations"), "nothing of ours had been there"
    await cluster.sound()


async def a_deleted_group_is_gone_at_once_and_another_may_have_its_name(cluster: Cluster) -> None:
    """G44, G48: nobody's finalizer holds it, nothing is tried for ever, its pods wait or run on."""
    await cluster.gather("ring", 3)
    await asyncio.gather(*(cluster.submit(name, 2, group="ring") for name in ("ring-0", "ring-1")))
    await until(lambda: _says(cluster, "Scheduled", "GangWaiting"), "the group says what it waits for")
    await _delete(cluster)
    await cluster.gather("ring", 2)
    before = await cluster.running(["ring-0", "ring-1"])
    await _until_says(cluster, "Ready")
    assert not any(pod["metadata"].get("finalizers") for pod in before.values())
    await _delete(cluster)
    await cluster.gather("ring", 2)
    await _until_says(cluster, "Ready")
    await cluster.submit("ring-2", 2, group="ring")
    after = await cluster.running(["ring-0", "ring-1", "ring-2"])
    assert [after[name]["metadata"]["uid"] for name in before] == [
        pod["metadata"]["uid"] for pod in before.values()
    ]
    await cluster.sound()


def _path(cluster: Cluster) -> str:
    return f"{cluster.groups}/ring"


async def _group(cluster: Cluster) -> JSON:
    reply = await cluster.api.read(_path(cluster))
    assert reply.ok, reply.reason
    return reply.body


async def _delete(cluster: Cluster) -> None:
    assert (await cluster.api.send(Write("DELETE", _path(cluster)))).ok
    assert (await cluster.api.read(_path(cluster))).status == 404, "something keeps the group from going"


async def _overwritten(cluster: Cluster, marks: dict[str, str]) -> bool:
    """Replace all of the group but its wishes; somebody else may have been faster."""
    found = await _group(cluster)
    kept = {key: found["metadata"][key] for key in ("name", "namespace", "resourceVersion")}
    body = {**found, "metadata": {**kept, "annotations": marks}, "status": {}}
    return (await cluster.api.send(Write("PUT", _path(cluster), body))).ok


async def _overwrite_until(over: asyncio.Event, cluster: Cluster) -> int:
    """How often that succeeded."""
    done = 0
    while not over.is_set() or not done:
        done += await _overwritten(cluster, {})
        await asyncio.sleep(0.02)
    return done


async def _until_says(cluster: Cluster, kind: str) -> None:
    await until(lambda: _says(cluster, kind), f"the group is {kind}")


async def _says(cluster: Cluster, kind: str, reason: str = "") -> bool:
    found = condition((await _group(cluster)).get("status") or {}, kind)
    return bool(found.get("reason") == reason if reason else found.get("status") == "True")
