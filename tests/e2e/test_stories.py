"""What a cluster goes through, on embedded; the same stories are played on a real one (tests/e2e/kind)."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any
from unittest.mock import patch

import pytest

from gpuyard import vocabulary, yard
from gpuyard.narration import Beat
from gpuyard.writes import JSON, PatchType, Reply, Write
from gpuyard_cli.backends.embedded import EmbeddedAccounts
from gpuyard_cli.connecting.extender_proxy import NearbyExtender
from gpuyard_cluster.wiring.embedded import EmbeddedYard
from gpuyard_cluster.wiring.node import EmbeddedNode
from gpuyard_cluster.wiring.parts import Options
from gpuyard_kube.http import HttpApi
from tests.e2e.agreement import agree
from tests.e2e.stories.cluster import Cluster, node_of, runs, until
from tests.e2e.stories.nodes import who_waits_for_a_node_that_is_off_is_served_when_it_is_back
from tests.e2e.stories.stories import STORIES, Story

GPUS = {"model": "NVIDIA-A100-SXM4-40GB", "count": 8, "topology": "nvswitch"}
NODES = yard.parse({"nodes": [{"name": f"node-{n}", "gpus": GPUS} for n in (1, 2, 3)]})
NAMESPACE = "story"
GPU = vocabulary.GPU


class EmbeddedHands:
    """`tests.e2e.stories.hands.Hands` on an EmbeddedYard. `api` is its API server."""

    def __init__(self, yard: EmbeddedYard, heard: Counter[Beat]) -> None:
        self._yard, self._heard = yard, heard
        self.api, self.extender = HttpApi.at(yard.url), HttpApi.at(yard.extender_url)

    async def aclose(self) -> None:
        await self.api.close()
        await self.extender.close()

    async def code(self, namespace: str, pod: str) -> str:
        reply = await self.ask(f"/v1/pods/{namespace}/{pod}/explain")
        return str(reply.body.get("code") or "")

    async def ask(self, path: str, body: JSON | None = None) -> Reply:
        return await NearbyExtender(self.extender).ask(path, body)

    async def measured(self) -> list[str]:
        return [str((await self.ask("/metrics")).body["message"])]

    async def restart_kubelet(self, node: str) -> None:
        listed = Beat(f"kubelet {node}", "8 of 8 nvidia.com/gpu are healthy")
        before = self._heard[listed]
        place = self._yard.nodes[node]
        await place.stop_kubelet()
        await place.start_kubelet()

        async def listed_anew() -> bool:
            return self._heard[listed] > before

        await until(listed_anew, "the device plugin has registered anew")

    async def kill_plugin(self, node: str) -> None:
        async with self.without_plugin(node):
            pass

    @asynccontextmanager
    async def without_plugin(self, node: str) -> AsyncIterator[None]:
        place = self._embedded(node)
        await place.stop_plugin()
        async with self._registered(node):
            try:
                yield
            finally:
                place.start_plugin()

    @asynccontextmanager
    async def second_plugin(self, node: str) -> AsyncIterator[None]:
        place = self._embedded(node)
        async with self._registered(node):
            with patch.multiple(place, plugin=place.plugin, _plugin_runtime=place._plugin_runtime):
                async with self._registered(node):
                    place.start_plugin()
                try:
                    yield
                finally:
                    await place.stop_plugin()

    @asynccontextmanager
    async def _registered(self, node: str) -> AsyncIterator[None]:
        """At the end of the block the device plugin registers once more."""
        registered = Beat(f"kubelet {node}", f"device plugin registered for {GPU}")
        before = self._heard[registered]
        yield

        async def registered_anew() -> bool:
            return self._heard[registered] > before

        await until(registered_anew, "the device plugin has registered anew")

    async def sockets(self, node: str) -> list[str]:
        return sorted(path.name for path in (self._embedded(node).folder / "device-plugins").iterdir())

    def _embedded(self, node: str) -> EmbeddedNode:
        found = self._yard.nodes[node]
        assert isinstance(found, EmbeddedNode)
        return found

    async def drain(self, node: str) -> None:
        """What `kubectl drain` asks of the API server."""
        cordon: JSON = {"spec": {"unschedulable": True}}
        await self.api.send(Write("PATCH", f"/api/v1/nodes/{node}", cordon, PatchType.MERGE))
        for pod in (await self.api.read("/api/v1/pods")).body["items"]:
            if node_of(pod) != node:
                continue
            named = {key: pod["metadata"][key] for key in ("name", "namespace")}
            path = f"/api/v1/namespaces/{named['namespace']}/pods/{named['name']}/eviction"
            eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": named}
            reply = await self.api.send(Write("POST", path, eviction))
            assert reply.ok, reply.reason

    @asynccontextmanager
    async def off(self, node: str) -> AsyncIterator[None]:
        """A node without kubelet and device plugin for as long as the block lasts."""
        place = self._embedded(node)
        await place.stop_kubelet()
        await place.stop_plugin()
        try:
            yield
        finally:
            async with self._registered(node):
                await place.start_kubelet()
                place.start_plugin()

    @asynccontextmanager
    async def held_allocations(self, node: str) -> AsyncIterator[None]:
        plugin, go_on = self._yard.nodes[node].plugin, asyncio.Event()
        answer = plugin.preferred

        async def late(*asked: Any) -> Any:
            await go_on.wait()
            return await answer(*asked)

        try:
            with patch.object(plugin, "preferred", late):
                yield
        finally:
            go_on.set()


async def play(story: Story) -> None:
    heard: Counter[Beat] = Counter()

    def hear(beat: Beat) -> None:
        heard[beat] += 1

    async with (
        EmbeddedYard(NODES, Options(narrate=hear)) as yard,
        aclosing(EmbeddedHands(yard, heard)) as hands,
    ):
        cluster = Cluster(hands.api, NAMESPACE, hands)
        await cluster.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        await until(lambda: _offered(cluster), "three nodes offer their GPUs")
        await story(cluster)
        await agree(EmbeddedAccounts(yard, hands.api, hands.extender))


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_on_embedded(story: Story) -> None:
    asyncio.run(play(story))


def test_a_node_that_is_off_on_embedded() -> None:
    """The real one is in tests/e2e/kind/test_workers.py."""

    async def story(cluster: Cluster) -> None:
        assert isinstance(cluster.hands, EmbeddedHands)
        await who_waits_for_a_node_that_is_off_is_served_when_it_is_back(cluster, cluster.hands.off)
        assert runs((await cluster.pods())["there"])

    asyncio.run(play(story))


async def _offered(cluster: Cluster) -> bool:
    return len(await cluster.nodes()) == len(NODES)
