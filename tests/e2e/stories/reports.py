"""Stories of faults that users of device plugins reported in public: a kubelet and its plugin lose each other."""

import asyncio

from gpuyard import annotations, vocabulary
from gpuyard.writes import JSON
from gpuyard_cli.scenarios import requests
from gpuyard_cli.scenarios.injections import gpu_fault
from gpuyard_cli.scenarios.observation import offered
from tests.e2e.stories.cluster import Cluster, held, node_of, until
from tests.e2e.stories.nodes import life


async def a_plugin_that_is_killed_comes_back_with_the_same_devices(cluster: Cluster) -> None:
    [node, *_] = await cluster.nodes()
    await cluster.submit("early", 3, node=node)
    before = (await cluster.running(["early"]))["early"]
    await cluster.hands.kill_plugin(node)
    await until(lambda: _offers(cluster, node, 8), "the kubelet offers all GPUs again")
    await cluster.submit("late", 5, node=node)
    pods = await cluster.running(["early", "late"])
    assert life(pods["early"]) == life(before)
    assert len(held(pods["early"]) | held(pods["late"])) == 8
    await cluster.sound()


async def a_plugin_that_is_sent_away_leaves_a_count_of_zero_and_no_socket(cluster: Cluster) -> None:
    [node, *_] = await cluster.nodes()
    await cluster.submit("early", node=node)
    before = (await cluster.running(["early"]))["early"]
    async with cluster.hands.without_plugin(node):
        await until(lambda: _offers(cluster, node, 0), "the kubelet offers no GPUs")
        status = (await cluster.node(node))["status"]
        assert status["allocatable"][vocabulary.GPU] == "0", "the key stays"
        await until(lambda: _has_no_socket(cluster, node), "the plugin leaves no socket behind")
        await cluster.submit("too-early", nodeName=node)
        await until(lambda: _failed(cluster, "too-early"), "a pod that comes meanwhile is refused")
    await until(lambda: _offers(cluster, node, 8), "the kubelet offers all GPUs again")
    await cluster.submit("late", 7, node=node)
    pods = await cluster.running(["early", "late"])
    assert life(pods["early"]) == life(before)
    assert len(held(pods["early"]) | held(pods["late"])) == 8
    await cluster.sound()


async def a_second_plugin_takes_over_and_hands_back(cluster: Cluster) -> None:
    [node, *_] = await cluster.nodes()
    await cluster.submit("early", 3, node=node)
    before = (await cluster.running(["early"]))["early"]
    async with cluster.hands.second_plugin(node):
        meanwhile = await _admitted(cluster, "meanwhile", 2, node)
    await until(lambda: _offers(cluster, node, 8), "the kubelet offers all GPUs again")
    late = await _admitted(cluster, "late", 3, node)
    pods = await cluster.running(["early", meanwhile, late])
    assert life(pods["early"]) == life(before)
    assert len(set().union(*(held(pods[name]) for name in ("early", meanwhile, late)))) == 8
    await cluster.sound()


async def a_gpu_that_fails_under_a_pod_is_told_in_its_status_and_recovers(cluster: Cluster) -> None:
    await cluster.submit("holder", 2)
    pod = (await cluster.running(["holder"]))["holder"]
    node, before = node_of(pod), life(pod)
    notes = (await cluster.node(node))["metadata"]["annotations"]
    inventory = annotations.read_inventory(notes[vocabulary.INVENTORY])
    assert inventory is not None
    [first, *_] = [gpu for gpu in inventory.gpus if gpu.uuid in held(pod)]
    try:
        for _ in range(2):
            await requests.hurt(cluster.api, gpu_fault(node, first.index, 79))
            await until(
                lambda: _is_told(cluster, {first.uuid}), "the pod's status says which GPU is unhealthy"
            )
            await requests.hurt(cluster.api, gpu_fault(node, first.index))
            await until(lambda: _is_told(cluster, set()), "the pod's status says that all are healthy")
    finally:
        await requests.hurt(cluster.api, gpu_fault(node, first.index))
    assert life((await cluster.pods())["holder"]) == before
    await cluster.sound()


async def a_container_sees_just_the_devices_that_were_planned_and_one_that_asks_for_none_sees_none(
    cluster: Cluster,
) -> None:
    [node, *_] = await cluster.nodes()
    command = ["sh", "-c", "env; exec sleep 3600"]
    container = {"name": "main", "image": "busybox:1.36", "command": command}
    await cluster.submit("without", node=node, containers=[container])
    await until(lambda: _is_running(cluster, "without"), "it runs without a GPU")
    await cluster.submit("with", 2, node=node)
    pods = await cluster.running(["with"])
    assert len(held(pods["with"])) == 2

    async def printed() -> bool:
        lines = [line for line in await cluster.log("with") if line.startswith("NVIDIA_VISIBLE_DEVICES=")]
        return [set(line.partition("=")[2].split(",")) for line in lines] == [held(pods["with"])]

    await until(printed, "the container prints the ids that its status names")
    assert not await _prints(cluster, "without", "NVIDIA")
    assert not await _prints(cluster, "without", vocabulary.SMI_VARIABLES)
    assert not held(pods["without"])
    await cluster.sound()


async def a_pod_that_asks_for_0_gpus_runs_where_all_are_taken_and_has_none(cluster: Cluster) -> None:
    """X28: kube-scheduler asks the extender about it and lets it bind: it goes by the name, not by the amount."""
    full = [f"full-{number}" for number in range(3)]
    await asyncio.gather(*(cluster.submit(name, 8) for name in full))
    await cluster.running(full)
    await cluster.submit("none", 0)
    await until(lambda: _is_running(cluster, "none"), "it runs")
    pod = (await cluster.pods())["none"]
    assert vocabulary.ALLOCATION not in pod["metadata"].get("annotations", {})
    assert not held(pod)
    await cluster.sound()


async def _admitted(cluster: Cluster, name: str, gpus: int, node: str) -> str:
    """As a Job's controller does, another pod for each that the kubelet refuses; the name of the one that runs.

    While one plugin takes over from another it may refuse some: when the stream of the one ends, the kubelet closes
    that of the other too (kubernetes#121994), and takes all devices for unhealthy until that has registered anew.
    """
    tries: list[str] = []

    async def runs() -> bool:
        if not tries or await _failed(cluster, tries[-1]):
            tries.append(f"{name}-{len(tries)}")
            await cluster.submit(tries[-1], gpus, node=node)
        return await _is_running(cluster, tries[-1])

    await until(runs, lambda: f"the kubelet admits one of {tries}")
    return tries[-1]


async def _offers(cluster: Cluster, node: str, gpus: int) -> bool:
    return offered(await cluster.node(node)).get(vocabulary.GPU, 0) == gpus


async def _has_no_socket(cluster: Cluster, node: str) -> bool:
    return not any(name.startswith("gpuyard-") for name in await cluster.hands.sockets(node))


async def _failed(cluster: Cluster, name: str) -> bool:
    status = (await cluster.pods())[name].get("status") or {}
    return (status.get("phase"), status.get("reason")) == ("Failed", "UnexpectedAdmissionError")


async def _is_running(cluster: Cluster, name: str) -> bool:
    return bool((await cluster.pods())[name].get("status", {}).get("phase") == "Running")


async def _prints(cluster: Cluster, name: str, words: str) -> bool:
    return any(words in line for line in await cluster.log(name))


async def _is_told(cluster: Cluster, sick: set[str]) -> bool:
    return _unhealthy((await cluster.pods())["holder"]) == sick


def _unhealthy(pod: JSON) -> set[str]:
    return {
        found["resourceID"]
        for status in pod["status"]["containerStatuses"]
        for resource in status.get("allocatedResourcesStatus") or ()
        for found in resource["resources"]
        if found["health"] == "Unhealthy"
    }
