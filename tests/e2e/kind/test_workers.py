"""Workers that are deleted, or stop, and come back.

Only here: it takes a machine that restarts, and the minute that a node lifecycle and a pod garbage collector wait.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from gpuyard.writes import Write
from tests.e2e.kind.cluster import KindCluster, play, plugins_ready
from tests.e2e.kind.commands import inside, run
from tests.e2e.stories.cluster import held, node_of, until
from tests.e2e.stories.nodes import ready, waits, who_waits_for_a_node_that_is_off_is_served_when_it_is_back

NODES = "/api/v1/nodes"


def test_a_node_that_is_deleted_is_forgotten_and_comes_back_with_its_kubelet(kubeconfig: str) -> None:
    async def story(cluster: KindCluster) -> None:
        kept, other, node = await cluster.nodes()
        await cluster.submit("kept", 8, node=kept)
        await cluster.submit("lost", 8, node=node)
        before = await cluster.running(["kept", "lost"])
        async with deleted(cluster, node):
            await cluster.submit("first", 8)
            await cluster.submit("second", 8)
            pods = await cluster.running(["kept", "first"])
            assert node_of(pods["first"]) == other
            await until(lambda: waits(cluster, "second"), "the second says that it waits for GPUs")
            await cluster.gone("lost")
        after = await cluster.running(["kept", "first", "second"])
        assert held(after["second"]) == held(before["lost"])
        await cluster.sound()

    play(kubeconfig, "node-deleted", story)


def test_a_worker_that_stops_keeps_its_devices_until_it_is_back_and_then_gives_them_anew(
    kubeconfig: str,
) -> None:
    """A kubelet that starts before its device plugin turns away what ran there, as it does with real GPUs."""

    async def story(cluster: KindCluster) -> None:
        *_, node = await cluster.nodes()
        await who_waits_for_a_node_that_is_off_is_served_when_it_is_back(cluster, partial(stopped, cluster))
        await until(lambda: turned_away(cluster, "there"), "what ran there has failed")
        await cluster.submit("next", 6, node=node)
        await cluster.running(["heir", "next"])
        await cluster.sound()

    play(kubeconfig, "worker-stopped", story)


@asynccontextmanager
async def deleted(cluster: KindCluster, node: str) -> AsyncIterator[None]:
    """A node that the API server knows nothing of for as long as the block lasts."""
    await cluster.api.send(Write("DELETE", f"{NODES}/{node}"))
    try:
        yield
    finally:
        await inside(node, "systemctl", "restart", "kubelet")
        await back(cluster, node)


@asynccontextmanager
async def stopped(cluster: KindCluster, node: str) -> AsyncIterator[None]:
    """A worker that is off for as long as the block lasts."""
    await run("docker", "stop", "--time", "5", node)
    try:
        yield
    finally:
        await run("docker", "start", node)
        await back(cluster, node)


async def back(cluster: KindCluster, node: str) -> None:
    """Wait until a node takes pods again, and its plugin serves them."""

    async def known() -> bool:
        found = await cluster.api.read(f"{NODES}/{node}")
        return bool(found.ok and found.body["spec"].get("podCIDR") and ready(found.body) == "True")

    await until(known, f"{node} is ready")
    await cluster.hands.renew_network()
    await until(lambda: plugins_ready(cluster.api), "the device plugins have registered")


async def turned_away(cluster: KindCluster, name: str) -> bool:
    status = (await cluster.pods())[name]["status"]
    return (status["phase"], status.get("reason")) == ("Failed", "UnexpectedAdmissionError")
