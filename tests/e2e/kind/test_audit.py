"""`gpuyard audit` on a real cluster: it finds what is wrong, and who cannot be asked."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import orjson

from gpuyard import annotations, vocabulary
from gpuyard.auditing.accounts import PLUGIN_PATH
from gpuyard.auditing.findings import Flaw
from gpuyard.writes import JSON, PatchType, Write
from tests.e2e.kind.cluster import KindCluster, play
from tests.e2e.kind.hands import PARTS
from tests.e2e.stories.cluster import held, node_of, until

GPUYARD = Path(sys.executable).with_name("gpuyard")


async def audit(kubeconfig: str) -> tuple[int, Any]:
    """Exit code and findings."""
    command = await asyncio.create_subprocess_exec(
        GPUYARD, "audit", "--kubeconfig", kubeconfig, "-o", "json", stdout=asyncio.subprocess.PIPE
    )
    out, _ = await command.communicate()
    return command.returncode or 0, orjson.loads(out)


async def kubelets(cluster: KindCluster) -> dict[str, set[str]]:
    """The devices of each pod, as its kubelet has told the device plugin: an audit goes on where it says nothing."""
    told: dict[str, set[str]] = {}
    for plugin in await cluster.hands.parts(vocabulary.DEVICE_PLUGIN):
        page = await cluster.api.read(f"{PARTS}/{plugin['metadata']['name']}:8082/proxy{PLUGIN_PATH}")
        assert page.ok, page.reason
        told |= {uid: _devices(containers) for uid, containers in page.body["kubelet"].items()}
    return told


def test_a_plan_that_is_changed_and_a_pod_that_came_without_one_are_found(kubeconfig: str) -> None:
    async def story(cluster: KindCluster) -> None:
        await cluster.submit("planned", gpus=2)
        others = {f"one-{node}": node for node in await cluster.nodes()}
        await asyncio.gather(*(cluster.submit(name, node=node) for name, node in others.items()))
        pods = await cluster.running(["planned", *others])
        assert await kubelets(cluster) == {pod["metadata"]["uid"]: held(pod) for pod in pods.values()}
        assert await audit(kubeconfig) == (0, {"findings": [], "silent": []})
        await cluster.submit("smuggled", nodeName=node_of(pods["planned"]))
        await cluster.running(["smuggled"])
        good = pods["planned"]["metadata"]["annotations"][vocabulary.ALLOCATION]
        await _annotate(cluster, annotations.write_allocation({"main": {vocabulary.GPU: ("GPU-1", "GPU-2")}}))
        code, found = await audit(kubeconfig)
        assert (code, found["silent"]) == (1, [])
        flaws = {finding["flaw"]: finding for finding in found["findings"]}
        assert flaws.keys() == {Flaw.NO_PLAN.value, Flaw.PLAN_NOT_SERVED.value}
        assert flaws[Flaw.NO_PLAN.value]["subject"] == f"{cluster.namespace}/smuggled"
        says = flaws[Flaw.PLAN_NOT_SERVED.value]["says"]
        assert says == {"plan": ["GPU-1", "GPU-2"], "status": sorted(held(pods["planned"]))}
        await _annotate(cluster, good)
        await cluster.delete("smuggled")
        await cluster.gone("smuggled")

    play(kubeconfig, "audit", story)


def test_a_device_plugin_that_is_not_there_is_named_until_it_is_back(kubeconfig: str) -> None:
    async def story(cluster: KindCluster) -> None:
        await cluster.submit("one")
        node = node_of((await cluster.running(["one"]))["one"])
        await _select(cluster, {"gpuyard.io/nowhere": "true"})
        try:

            async def named() -> bool:
                code, found = await audit(kubeconfig)
                return code == 2 and any(f"device plugin of {node}" in line for line in found["silent"])

            await until(named, f"the device plugin of {node} is said to be silent")
        finally:
            await _select(cluster, {"gpuyard.io/nowhere": None})

        async def back() -> bool:
            return (await audit(kubeconfig))[0] == 0

        await until(back, "all device plugins answer again")

    play(kubeconfig, "silence", story)


async def _annotate(cluster: KindCluster, plan: str) -> None:
    body: JSON = {"metadata": {"annotations": {vocabulary.ALLOCATION: plan}}}
    reply = await cluster.api.send(Write("PATCH", f"{cluster.path}/planned", body, PatchType.MERGE))
    assert reply.ok, reply.reason


async def _select(cluster: KindCluster, labels: JSON) -> None:
    """Let the device plugins run only on nodes with these labels too."""
    path = f"/apis/apps/v1/namespaces/{vocabulary.NAMESPACE}/daemonsets/{vocabulary.DEVICE_PLUGIN}"
    body: JSON = {"spec": {"template": {"spec": {"nodeSelector": labels}}}}
    reply = await cluster.api.send(Write("PATCH", path, body, PatchType.MERGE))
    assert reply.ok, reply.reason


def _devices(containers: JSON) -> set[str]:
    return {device for held in containers.values() for ids in held.values() for device in ids}
