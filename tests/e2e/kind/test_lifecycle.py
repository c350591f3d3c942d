"""Changing, upgrading and uninstalling GPUYard. On kind only: a kubelet mounts the ConfigMap and runs the parts."""

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import yaml

from gpuyard import vocabulary
from gpuyard.writes import JSON, PatchType, Write
from gpuyard_cli.backends.live_accounts import LiveAccounts
from gpuyard_cli.scenarios.observation import offered
from tests.e2e.agreement import agree
from tests.e2e.kind.cluster import WORKERS, KindCluster, play
from tests.e2e.kind.commands import run
from tests.e2e.kind.hands import PARTS
from tests.e2e.stories.cluster import held, node_of, runs, until

MANIFESTS = Path(__file__).parents[3] / "manifests"
SYSTEM = f"/api/v1/namespaces/{vocabulary.NAMESPACE}"
YARD = f"{SYSTEM}/configmaps/gpuyard-yard"
GPUYARD = str(Path(sys.executable).with_name("gpuyard"))
PLUGIN = vocabulary.DEVICE_PLUGIN
PARTS_OF_IT = ("deployment/gpuyard-extender", "deployment/gpuyard-operator", f"daemonset/{PLUGIN}")


async def workers(cluster: KindCluster) -> list[JSON]:
    return await cluster.items("/api/v1/nodes", labelSelector=f"{vocabulary.FAKE_GPUS}=true")


async def mount(cluster: KindCluster, text: str) -> None:
    """Change the yard. A kubelet looks at what a pod mounts when the pod changes, otherwise every minute or so."""
    patch = Write("PATCH", YARD, {"data": {"yard.yaml": text}}, PatchType.MERGE)
    assert (reply := await cluster.api.send(patch)).ok, reply.reason
    for pod in await cluster.hands.parts(PLUGIN):
        stamp = {"metadata": {"annotations": {"gpuyard.io/looked-at": str(hash(text))}}}
        await cluster.api.send(Write("PATCH", f"{PARTS}/{pod['metadata']['name']}", stamp, PatchType.MERGE))


def offer(cluster: KindCluster, *counts: int) -> Callable[[], Awaitable[bool]]:
    async def holds() -> bool:
        found = [offered(node).get(vocabulary.GPU, 0) for node in await workers(cluster)]
        return sorted(found) == sorted(counts)

    return holds


async def installed(cluster: KindCluster) -> None:
    """Wait until every part runs in its newest version, and the kubelets offer what the plugins say."""
    for part in PARTS_OF_IT:
        arguments = ("rollout", "status", part, "--timeout=150s")
        await cluster.hands.kubectl("-n", vocabulary.NAMESPACE, *arguments)
    await until(offer(cluster, 8, 8, 8), "each worker offers 8 GPUs")


async def problems(cluster: KindCluster) -> list[str]:
    notes = [node["metadata"]["annotations"] for node in await workers(cluster)]
    return [found[vocabulary.CONFIG_PROBLEM] for found in notes if vocabulary.CONFIG_PROBLEM in found]


def test_a_changed_yard_reaches_plugins_without_a_restart_and_a_broken_one_changes_nothing(
    kubeconfig: str,
) -> None:
    async def story(cluster: KindCluster) -> None:
        good = (await cluster.api.read(YARD)).body["data"]["yard.yaml"]
        before = {pod["metadata"]["uid"] for pod in await cluster.hands.parts(PLUGIN)}
        await cluster.submit("whole-node", gpus=8)
        mine = held((await cluster.running(["whole-node"]))["whole-node"])
        try:
            await mount(cluster, good.replace("count: 8", "count: 4"))
            await until(offer(cluster, 4, 4, 4), "each worker offers 4 GPUs")
            labels = {node["metadata"]["labels"]["nvidia.com/gpu.count"] for node in await workers(cluster)}
            assert labels == {"4"}
            await mount(cluster, "nodes: [{name: node-1, gpu: {}}]")

            async def said() -> bool:
                return len(await problems(cluster)) == WORKERS

            await until(said, "each worker says what is wrong")
            assert all("yard.yaml: nodes[0].gpu" in text for text in await problems(cluster))
            assert await offer(cluster, 4, 4, 4)()
        finally:
            await mount(cluster, good)
        await until(offer(cluster, 8, 8, 8), "each worker offers 8 GPUs again")
        assert await problems(cluster) == []
        plugins = await cluster.hands.parts(PLUGIN)
        assert {pod["metadata"]["uid"] for pod in plugins} == before
        assert all(pod["status"]["containerStatuses"][0]["restartCount"] == 0 for pod in plugins)
        assert held((await cluster.pods())["whole-node"]) == mine

    play(kubeconfig, "reload", story)


def test_all_parts_are_replaced_under_running_pods_and_a_waiting_gang(kubeconfig: str) -> None:
    async def story(cluster: KindCluster) -> None:
        await cluster.gather("pair", 2)
        for name in ("pair-0", "pair-1"):
            await cluster.submit(name, gpus=8, group="pair")
        await cluster.submit("single", gpus=3)
        before = await cluster.running(["pair-0", "pair-1", "single"])
        await cluster.gather("waiting", 2)
        for name in ("waiting-0", "waiting-1"):
            await cluster.submit(name, gpus=8, group="waiting")
        await cluster.hands.kubectl("-n", vocabulary.NAMESPACE, "rollout", "restart", *PARTS_OF_IT)
        await installed(cluster)
        await agree(LiveAccounts(cluster.api))
        after = await cluster.pods()
        for name, pod in before.items():
            assert (node_of(after[name]), held(after[name])) == (node_of(pod), held(pod)), name
            assert runs(after[name])
        await cluster.submit("new", gpus=5)
        assert node_of((await cluster.running(["new"]))["new"]) == node_of(before["single"])
        assert node_of((await cluster.pods())["waiting-0"]) == ""
        await cluster.delete("pair-0", "pair-1")
        await cluster.running(["waiting-0", "waiting-1"])
        await cluster.sound()

    play(kubeconfig, "upgrade", story)


def test_uninstalling_leaves_nothing_held_and_nothing_of_ours(kubeconfig: str) -> None:
    async def story(cluster: KindCluster) -> None:
        await cluster.submit("runs")
        await cluster.running(["runs"])
        await cluster.gather("gang", 2)
        await cluster.submit("gang-0", gpus=1, group="gang")
        assert (await cluster.pods())["gang-0"]["spec"]["schedulingGates"]
        command = (GPUYARD, "uninstall", "--kubeconfig", kubeconfig)
        try:
            would = set((await run(*command, "--dry-run")).splitlines())
            said = (await run(*command)).splitlines()
            assert {f"(dry run) {line}" for line in said} == would
            assert "no longer held, and starts without waiting for the rest of PodGroup gang" in str(said)
            await _nothing_is_left(cluster)
            assert (await run(*command)).strip() == "nothing of GPUYard is there"
        finally:
            await cluster.delete("runs", "gang-0")
            await cluster.gone("runs", "gang-0")
            await cluster.hands.kubectl("apply", "-k", str(MANIFESTS))
        await installed(cluster)

    play(kubeconfig, "uninstall", story)


async def _nothing_is_left(cluster: KindCluster) -> None:
    pods = await cluster.pods()
    assert pods["runs"]["status"]["phase"] == "Running"
    assert not pods["gang-0"]["spec"].get("schedulingGates")
    for pod in pods.values():
        assert vocabulary.ALLOCATION not in pod["metadata"].get("annotations", {})
    for node in await workers(cluster):
        metadata = node["metadata"]
        assert not [key for key in metadata["labels"] if key.startswith("nvidia.com/")]
        assert vocabulary.INVENTORY not in metadata["annotations"]
    assert [group["metadata"]["name"] for group in await cluster.items(cluster.groups)] == ["gang"]

    async def namespace_is_gone() -> bool:
        return (await cluster.api.read(SYSTEM)).status == 404

    await until(namespace_is_gone, "the namespace of GPUYard is gone")


def test_the_yard_of_the_manifests_can_be_changed_as_this_test_does() -> None:
    [config] = yaml.safe_load_all((MANIFESTS / "yard.yaml").read_text())
    assert config["data"]["yard.yaml"].count("count: 8") == WORKERS
