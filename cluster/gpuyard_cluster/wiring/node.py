"""One node of the embedded cluster: a kubelet and a device plugin that meet on unix sockets."""

import contextlib
from pathlib import Path
from types import TracebackType
from typing import Self

from gpuyard.yard import YardNode
from gpuyard_cluster.apiserver.direct import DirectApi
from gpuyard_cluster.apiserver.server import APIServer
from gpuyard_cluster.kubelet.disks import FolderDisk
from gpuyard_cluster.kubelet.service import Kubelet
from gpuyard_cluster.kubelet.sockets import KubeletSockets
from gpuyard_cluster.wiring import identities, parts
from gpuyard_cluster.wiring.feeding import on_loop
from gpuyard_cluster.wiring.parts import Options, own_resources
from gpuyard_device_plugin.dialing import KubeletPodResources
from gpuyard_device_plugin.service import DevicePlugin, Ports
from gpuyard_device_plugin.shell import PluginShell
from gpuyard_kube.http import HttpApi
from gpuyard_kube.informer import Informer
from gpuyard_kube.runtime import AsyncioRuntime


class EmbeddedNode:
    """Runs within an `async with` block. `folder` must be short: unix sockets lie in it."""

    def __init__(
        self, node: YardNode, folder: Path, server: APIServer, api: HttpApi, options: Options
    ) -> None:
        self._node, self._folder, self._server, self._api, self._options = node, folder, server, api, options
        self._runtime = AsyncioRuntime()
        self.kubelet = self._made_kubelet()
        self._sockets = KubeletSockets(self.kubelet, folder)
        self._plugin_runtime = AsyncioRuntime()
        self.plugin = self._made_plugin()
        self._ends, self._kubelet_ends = contextlib.AsyncExitStack(), contextlib.AsyncExitStack()

    async def __aenter__(self) -> Self:
        try:
            await self._start()
        except BaseException:
            await self._ends.aclose()
            raise
        return self

    async def restart_kubelet(self) -> None:
        """The kubelet dies and starts anew with what is on its disk; the device plugin finds it by itself."""
        await self._kubelet_ends.aclose()
        self.kubelet = self._made_kubelet()
        self._sockets = KubeletSockets(self.kubelet, self._folder)
        await self._start_kubelet()

    async def end_plugin(self) -> None:
        """The device plugin goes, and takes its sockets along."""
        await self._plugin_runtime.close()

    def start_plugin_anew(self) -> None:
        """Another device plugin takes the place of one that has ended; it remembers nothing."""
        self._plugin_runtime = AsyncioRuntime()
        self.plugin = self._made_plugin()
        self._start_plugin()

    def sockets(self) -> list[str]:
        """The names of what is in the folder for device plugins."""
        return sorted(path.name for path in self._sockets.plugin_directory.iterdir())

    def _made_plugin(self) -> DevicePlugin:
        pod_resources = KubeletPodResources(self._sockets.pod_resources_socket)
        ports = Ports(self._api, self._plugin_runtime, pod_resources, self._options.narrate)
        return parts.device_plugin(self._node, ports, self._options)

    def _made_kubelet(self) -> Kubelet:
        api = DirectApi(self._server, "kubelet", identities.kubelet(self._node.name))
        disk = FolderDisk(self._folder / "disk")
        return parts.kubelet(self._node, api, self._runtime, disk, self._options, heartbeats=True)

    async def _start(self) -> None:
        # What ends last comes first: the plugin's sockets go while the kubelet still listens.
        self._ends.push_async_callback(self._kubelet_ends.aclose)
        self._ends.push_async_callback(self._runtime.close)
        self._ends.push_async_callback(lambda: self._plugin_runtime.close())
        await self._start_kubelet()
        self._start_plugin()

    def _start_plugin(self) -> None:
        informer = Informer(self._api, self.plugin, own_resources(self._node.name))
        self._plugin_runtime.spawn(informer.run(), f"plugin informer {self.plugin.node}")
        shell = PluginShell(self.plugin, self._sockets.plugin_directory)
        self._plugin_runtime.spawn(shell.run(), f"plugin {self.plugin.node}")

    async def _start_kubelet(self) -> None:
        self._kubelet_ends.callback(self.kubelet.stop)
        self._kubelet_ends.push_async_callback(self._sockets.stop)
        await self._sockets.start()
        self._kubelet_ends.callback(on_loop(self._server, self.kubelet, own_resources(self._node.name)).stop)
        self.kubelet.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._ends.aclose()
