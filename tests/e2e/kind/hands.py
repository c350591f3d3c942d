"""What is done to a kind cluster beside its API: its nodes are containers, and its parts processes in them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from gpuyard import vocabulary
from gpuyard.writes import JSON, PatchType, Reply, Write
from gpuyard_cli.connecting.extender_proxy import ExtenderProxy
from gpuyard_kube.http import HttpApi
from tests.e2e.kind.commands import COMMAND_SECONDS, inside, plugin_container, plugin_process, run
from tests.e2e.stories.cluster import until

PARTS = f"/api/v1/namespaces/{vocabulary.NAMESPACE}/pods"
PLUGIN = "/app/bin/gpuyard-device-plugin"
NETWORK = Path(__file__).parents[3] / "kind/network.sh"


@dataclass(frozen=True)
class KindHands:
    """`tests.e2e.stories.hands.Hands`."""

    api: HttpApi
    kubeconfig: str

    async def code(self, namespace: str, pod: str) -> str:
        reply = await self.ask(f"/v1/pods/{namespace}/{pod}/explain")
        return str(reply.body.get("code") or "")

    async def ask(self, path: str, body: JSON | None = None) -> Reply:
        return await ExtenderProxy(self.api).ask(path, body)

    async def measured(self) -> list[str]:
        names = [pod["metadata"]["name"] for pod in await self.parts(vocabulary.EXTENDER)]
        replies = [await self.api.read(f"{PARTS}/{name}:8081/proxy/metrics") for name in names]
        return [str(reply.body["message"]) for reply in replies if reply.ok]

    async def restart_kubelet(self, node: str) -> None:
        async with self._registered(await self.plugin(node)):
            await inside(node, "systemctl", "restart", "kubelet")

    async def kill_plugin(self, node: str) -> None:
        before = (await self.restarts())[node]
        await inside(node, "kill", "-KILL", await plugin_process(node))

        async def started_anew() -> bool:
            return (await self.restarts()).get(node, 0) > before

        await until(started_anew, f"the device plugin of {node} has started anew and registered")

    @asynccontextmanager
    async def without_plugin(self, node: str) -> AsyncIterator[None]:
        """The DaemonSet goes by the label: without it there is no plugin."""
        await self._label(node, "false")

        async def is_gone() -> bool:
            return not await self._plugins(node)

        async def is_ready() -> bool:
            return node in await self.restarts()

        try:
            await until(is_gone, f"the device plugin of {node} is gone")
            yield
        finally:
            await self._label(node, "true")
        await until(is_ready, f"the device plugin of {node} has come back and registered")

    @asynccontextmanager
    async def second_plugin(self, node: str) -> AsyncIterator[None]:
        """Another process in the container of the first; its pages need a port of their own."""
        plugin, container = await self.plugin(node), await plugin_container(node)
        settings = (await self.api.read(f"{PARTS}/{plugin}")).body["spec"]["containers"][0]["args"]
        second = await asyncio.create_subprocess_exec(
            *("docker", "exec", node, "crictl", "exec", container, PLUGIN),
            *(*settings, "--port=0"),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        assert second.stdout is not None
        async with self._registered(plugin):
            async with asyncio.timeout(COMMAND_SECONDS):
                await second.stdout.readuntil(b"registered with")
            try:
                yield
            finally:
                await inside(node, "pkill", "-TERM", "-f", f"^[^ ]*python[^ ]* {PLUGIN} .* --port=0$")
                await second.communicate()

    @asynccontextmanager
    async def _registered(self, plugin: str) -> AsyncIterator[None]:
        """At the end of the block a device plugin registers once more."""
        before = await self.registrations(plugin)
        yield

        async def registered() -> bool:
            return await self.registrations(plugin) > before

        await until(registered, f"{plugin} has registered anew")

    async def sockets(self, node: str) -> list[str]:
        return (await inside(node, "ls", "-A", "/var/lib/kubelet/device-plugins")).split()

    async def drain(self, node: str) -> None:
        await self.kubectl("drain", node, "--ignore-daemonsets", "--force", "--delete-emptydir-data")

    @asynccontextmanager
    async def held_allocations(self, node: str) -> AsyncIterator[None]:
        """The plugin's process is stopped, as a debugger would."""
        process = await plugin_process(node)
        await inside(node, "kill", "-STOP", process)
        try:
            yield
        finally:
            await inside(node, "kill", "-CONT", process)

    async def restarts(self) -> dict[str, int]:
        """How often the device plugin of a node has started anew; only of those that the kubelet watches."""
        return {
            pod["spec"]["nodeName"]: main["restartCount"]
            for pod in await self.parts(vocabulary.DEVICE_PLUGIN)
            for main in pod["status"].get("containerStatuses") or ()
            if main["ready"]
        }

    async def kubectl(self, *arguments: str) -> str:
        return await run("kubectl", "--kubeconfig", self.kubeconfig, *arguments)

    async def parts(self, part: str, **query: str) -> list[JSON]:
        """The pods of a part of GPUYard."""
        reply = await self.api.read(PARTS, labelSelector=f"app.kubernetes.io/name={part}", **query)
        assert reply.ok, reply.reason
        return list(reply.body["items"])

    async def kill(self, part: str) -> None:
        """End all pods of a part of GPUYard at once, without a chance to say goodbye."""
        query = {"gracePeriodSeconds": "0"}
        for pod in await self.parts(part):
            await self.api.send(Write("DELETE", f"{PARTS}/{pod['metadata']['name']}", query=query))

    async def kill_api_server(self) -> None:
        """The kubelet starts it anew: it is a static pod."""
        [node] = await self.control_plane()
        await inside(node, "pkill", "-KILL", "-x", "kube-apiserver")

    async def control_plane(self) -> list[str]:
        found = await self.api.read("/api/v1/nodes", labelSelector="node-role.kubernetes.io/control-plane")
        return [node["metadata"]["name"] for node in found.body["items"]]

    async def plugin(self, node: str) -> str:
        """The name of a node's device plugin."""
        found = await self._plugins(node)
        [name] = [pod["metadata"]["name"] for pod in found if "deletionTimestamp" not in pod["metadata"]]
        return str(name)

    async def _plugins(self, node: str) -> list[JSON]:
        """The device plugins of a node, also one that ends."""
        return await self.parts(vocabulary.DEVICE_PLUGIN, fieldSelector=f"spec.nodeName={node}")

    async def _label(self, node: str, fake_gpus: str) -> None:
        body = {"metadata": {"labels": {vocabulary.FAKE_GPUS: fake_gpus}}}
        reply = await self.api.send(Write("PATCH", f"/api/v1/nodes/{node}", body, PatchType.MERGE))
        assert reply.ok, reply.reason

    async def registrations(self, plugin: str) -> int:
        """How often a device plugin says that it has registered."""
        said = await self.api.read(f"{PARTS}/{plugin}/log")
        return str(said.body.get("message", "")).count("registered with")

    async def renew_network(self) -> None:
        """Where we made the network ourselves, it knows nothing of a node that starts anew."""
        [node] = await self.control_plane()
        await run(str(NETWORK), node.removesuffix("-control-plane"), KUBECONFIG=self.kubeconfig)
