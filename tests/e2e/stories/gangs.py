"""Stories of gangs and the API: groups that come late, minimums without sense, members that lose their places."""

import asyncio
from typing import Any

from gpuyard import vocabulary
from gpuyard.groups import reservations
from gpuyard.writes import JSON, Reply, Write
from gpuyard_kube.conditions import condition
from tests.e2e.stories.cluster import Cluster, node_of, until
from tests.e2e.stories.deletions import NOBODY


async def members_that_come_before_their_group_wait_and_start_when_it_comes(cluster: Cluster) -> None:
    """G24 to G27: nothing is refused, and no other group is made for them."""
    names = ["early-0", "early-1"]
    await asyncio.gather(*(cluster.submit(name, 8, group="early") for name in names))
    pods = await cluster.pods()
    assert all(_gates(pods[name]) == [vocabulary.GANG_GATE] for name in names)
    assert await cluster.items(cluster.groups) == []
    await cluster.gather("early", 3)
    await until(lambda: _waits(cluster, "early", "GangWaiting"), "the group says that a member is missing")
    assert not any(map(node_of, (await cluster.pods()).values()))
    await cluster.submit("early-2", 8, group="early")
    await cluster.running([*names, "early-2"])
    await cluster.sound()


async def a_minimum_below_one_is_refused_by_the_name_of_its_field_and_none_means_one(
    cluster: Cluster,
) -> None:
    """G32, G33."""
    for minimum in (0, -1):
        refused = await _group(cluster, "small", minMember=minimum)
        assert (refused.status, "spec.minMember" in refused.reason) == (422, True), refused.reason
    assert (await _group(cluster, "small")).ok
    await cluster.submit("alone", 1, group="small")
    await cluster.running(["alone"])
    await cluster.sound()


async def members_that_were_let_go_and_lost_their_places_are_unschedulable_to_all(cluster: Cluster) -> None:
    """G52: an autoscaler sees no gated pod, but these it sees."""
    await cluster.gather("ring", 2)
    await cluster.submit("ring-0", 8, group="ring", schedulerName=NOBODY)
    await cluster.submit("ring-1", 8, group="ring")
    await cluster.let_go()
    await cluster.delete("ring-0")

    await until(lambda: _unschedulable(cluster, "ring-1"), "the member that is left is Unschedulable")
    await cluster.submit("ring-2", 8, group="ring")
    await cluster.running(["ring-1", "ring-2"])
    await cluster.sound()


async def a_pod_that_only_reserved_places_keep_out_is_tried_again_when_they_are_given_up(
    cluster: Cluster,
) -> None:
    """X26: kube-scheduler sees no change then, and would try the pod minutes later."""
    members = [f"ring-{number}" for number in range(3)]
    await cluster.gather("ring", 3)
    await asyncio.gather(*(cluster.submit(name, 8, group="ring", schedulerName=NOBODY) for name in members))
    await cluster.let_go()
    await cluster.submit("late", 8)
    await until(lambda: _unschedulable(cluster, "late"), "the pod has been refused")
    await cluster.delete(*members)
    pods = await cluster.running(["late"])
    assert vocabulary.WOKEN in pods["late"]["metadata"]["annotations"]
    await cluster.sound()


async def a_gang_whose_nodes_are_full_does_not_try_without_end_and_starts_when_there_is_room(
    cluster: Cluster,
) -> None:
    """X22."""
    full, members = [f"full-{number}" for number in range(3)], ["ring-0", "ring-1"]
    await asyncio.gather(*(cluster.submit(name, 8) for name in full))
    await cluster.running(full)
    await cluster.gather("ring", 2)
    await asyncio.gather(*(cluster.submit(name, 8, group="ring") for name in members))
    await until(lambda: _waits(cluster, "ring", "GangUnplaceable"), "the group says that it has no room")
    await until(lambda: _rests(cluster), "nothing more is written about it")
    assert await cluster.items(reservations.path(cluster.namespace)) == []
    await cluster.delete(*full[:2])
    await cluster.running([*members, full[2]])
    await cluster.sound()


async def _rests(cluster: Cluster) -> bool:
    """Whether for a second nobody writes of a gang and its pods, or makes others."""
    before = await _versions(cluster)
    await asyncio.sleep(1.0)
    return await _versions(cluster) == before


async def _versions(cluster: Cluster) -> dict[str, str]:
    found = [*await cluster.items(cluster.groups), *await cluster.items(cluster.path)]
    return {each["metadata"]["uid"]: each["metadata"]["resourceVersion"] for each in found}


async def _unschedulable(cluster: Cluster, name: str) -> bool:
    found = condition((await cluster.pods())[name].get("status") or {}, "PodScheduled")
    return (found.get("status"), found.get("reason")) == ("False", "Unschedulable")


async def _group(cluster: Cluster, name: str, **spec: Any) -> Reply:
    head = {"apiVersion": vocabulary.POD_GROUP_API, "kind": "PodGroup", "metadata": {"name": name}}
    return await cluster.api.send(Write("POST", cluster.groups, {**head, "spec": spec}))


async def _waits(cluster: Cluster, name: str, reason: str) -> bool:
    [group] = [found for found in await cluster.items(cluster.groups) if found["metadata"]["name"] == name]
    return bool(condition(group.get("status") or {}, "Scheduled").get("reason") == reason)


def _gates(pod: JSON) -> list[str]:
    return [gate["name"] for gate in pod["spec"].get("schedulingGates") or ()]
