"""A fake device plugin keeps away from whatever looks like real GPUs, says so, and starts when that is gone.

Only here: embedded has no host. A real driver shows in /proc, where no test can write: see tests/device_plugin.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from gpuyard import vocabulary
from gpuyard.writes import JSON, PatchType, Write
from tests.e2e.kind.cluster import KindCluster, play, plugins_ready
from tests.e2e.kind.commands import inside
from tests.e2e.kind.hands import PARTS
from tests.e2e.stories.cluster import until

SOCKET = "/var/lib/kubelet/device-plugins/nvidia-gpu.sock"
PRODUCT = "nvidia.com/gpu.product"
Beside = Callable[[KindCluster, str], AbstractAsyncContextManager[None]]


@asynccontextmanager
async def another_plugin(cluster: KindCluster, node: str) -> AsyncIterator[None]:
    """The socket of NVIDIA's plugin lies where plugins listen; then ours starts anew."""
    await inside(node, "touch", SOCKET)
    try:
        plugin = await cluster.hands.plugin(node)
        await cluster.api.send(Write("DELETE", f"{PARTS}/{plugin}"))
        yield
    finally:
        await inside(node, "rm", "-f", SOCKET)


@asynccontextmanager
async def another_discovery(cluster: KindCluster, node: str) -> AsyncIterator[None]:
    """GPU feature discovery has labelled the node; then fake GPUs are asked for."""
    await change(cluster, node, labels={vocabulary.FAKE_GPUS: "false"})

    async def is_gone() -> bool:
        return not await served_by(cluster, node)

    await until(is_gone, f"{node} has no device plugin")
    await change(cluster, node, labels={PRODUCT: "Tesla-T4"}, annotations={vocabulary.INVENTORY: None})
    try:
        await change(cluster, node, labels={vocabulary.FAKE_GPUS: "true"})
        yield
    finally:
        await change(cluster, node, labels={vocabulary.FAKE_GPUS: "true", PRODUCT: None})


@pytest.mark.parametrize(
    ("beside", "found"),
    [
        (another_plugin, f"the socket of another NVIDIA device plugin ({SOCKET})"),
        (another_discovery, f"a label {PRODUCT}"),
    ],
    ids=["socket", "label"],
)
def test_a_fake_plugin_does_not_start_beside_a_real_one(kubeconfig: str, beside: Beside, found: str) -> None:
    async def story(cluster: KindCluster) -> None:
        [*_, node] = await cluster.nodes()
        async with beside(cluster, node):

            async def refused() -> bool:
                return any(found in text for pod in await served_by(cluster, node) for text in messages(pod))

            await until(refused, f"the status of the plugin's pod says that it found {found}")
            name = await cluster.hands.plugin(node)
            said = await cluster.api.read(f"{PARTS}/{name}/log")
            assert f"does not start on node {node}: found {found}" in str(said.body.get("message"))
        await until(lambda: plugins_ready(cluster.api), "the plugin has started by itself")
        await cluster.submit("one", 8, node=node)
        await cluster.running(["one"])
        await cluster.sound()

    play(kubeconfig, f"beside-{beside.__name__.replace('_', '-')}", story)


async def served_by(cluster: KindCluster, node: str) -> list[JSON]:
    """The pods of the device plugin on a node, also one that ends."""
    return await cluster.hands.parts(vocabulary.DEVICE_PLUGIN, fieldSelector=f"spec.nodeName={node}")


def messages(pod: JSON) -> list[str]:
    """Why the containers of a pod ended, as its status says."""
    states = [
        found.get(key, {}).get("terminated", {})
        for found in pod["status"].get("containerStatuses") or ()
        for key in ("state", "lastState")
    ]
    return [str(state.get("message", "")) for state in states]


async def change(cluster: KindCluster, node: str, **metadata: dict[str, str | None]) -> None:
    body = {"metadata": metadata}
    reply = await cluster.api.send(Write("PATCH", f"/api/v1/nodes/{node}", body, PatchType.MERGE))
    assert reply.ok, reply.reason
