"""One node of the embedded cluster: a kubelet and a device plugin that meet on unix sockets."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from gpuyard.yard import YardNode
from gpuyard_cluster.apiserver.direct import DirectApi
from gpuyard_cluster.apiserver.server import APIServer
from gpuyard_cluster.kubelet.disks import FolderDisk
from gpuyard_cluster.kubelet.sockets import KubeletSockets
from gpuyard_cluster.wiring import identities, parts
from gpuyard_cluster.wiring.feeding import on_loop
from gpuyard_cluster.wiring.parts import Options, own_resources
from gpuyard_device_plugin.dialing import KubeletPodResources
from gpuyard_device_plugin.service import Ports
from gpuyard_device_plugin.shell import PluginShell
from gpuyard_kube.http import HttpApi
from gpuyard_kube.informer import Informer
from gpuyard_kube.runtime import AsyncioRuntime


class EmbeddedNode:
    """Runs within an `async with` block. `folder` must be short: unix sockets lie in it.

    `described` says what the node is like, whenever a part of it starts.
    """

    def __init__(
        self,
        described: Callable[[], YardNode],
        folder: Path,
        server: APIServer,
        api: HttpApi,
        options: Options,
    ) -> None:
        self._described, self._name, self.folder = described, described().name, folder
        self._server, self._api, self._options = server, api, options
        self._runtime, self._plugin_runtime = AsyncioRuntime(), AsyncioRuntime()
        self._ends, self._kubelet_ends = contextlib.AsyncExitStack(), contextlib.AsyncExitStack()
        # What ends last comes first: the plugin's sockets go while the kubelet still listens.
        self._ends.push_async_callback(self.stop_kubelet)
        self._ends.push_async_callback(self._runtime.close)
        self._ends.push_async_callback(self.stop_plugin)

    async def __aenter__(self) -> Self:
        try:
            await self.start_kubelet()
            self.start_plugin()
        except BaseException:
            await self._ends.aclose()
            raise
        return self

    async def start_kubelet(self) -> None:
        """One that knows what is on the node's disk; the device plugin finds it by itself."""
        api = DirectApi(self._server, "kubelet", identities.kubelet(self._name))
        disk = FolderDisk(self.folder / "disk")
        self.kubelet = parts.kubelet(
            self._described(), api, self._runtime, disk, self._options, heartbeats=True
        )
        self._sockets = KubeletSockets(self.kubelet, self.folder)
        self._kubelet_ends.callback(self.kubelet.stop)
        self._kubelet_ends.push_async_callback(self._sockets.stop)
        await self._sockets.start()
        self._kubelet_ends.callback(on_loop(self._server, self.kubelet, own_resources(self._name)).stop)
        self.kubelet.start()

    async def stop_kubelet(self) -> None:
        await self._kubelet_ends.aclose()

    def start_plugin(self) -> None:
        """One that remembers nothing."""
        self._plugin_runtime = AsyncioRuntime()
        pod_resources = KubeletPodResources(self._sockets.pod_resources_socket)
        ports = Ports(self._api, self._plugin_runtime, pod_resources, self._options.narrate)
        self.plugin = parts.device_plugin(self._described(), ports, self._options)
        informer = Informer(self._api, self.plugin, own_resources(self._name))
        self._plugin_runtime.spawn(informer.run(), f"plugin informer {self._name}")
        shell = PluginShell(self.plugin, self._sockets.plugin_directory)
        self._plugin_runtime.spawn(shell.run(), f"plugin {self._name}")

    async def stop_plugin(self) -> None:
        """It takes its sockets along."""
        await self._plugin_runtime.close()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._ends.aclose()
