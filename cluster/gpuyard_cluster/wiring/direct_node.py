"""One node of a large embedded cluster: its kubelet and its device plugin call each other directly.

The same services behind the same ports as on `node.EmbeddedNode`, without two gRPC servers and two HTTP watches for
each node: a thousand of those would be all that the process does.
"""

import contextlib
from types import TracebackType
from typing import Self

from gpuyard.yard import YardNode
from gpuyard_cluster.apiserver.direct import DirectApi
from gpuyard_cluster.apiserver.server import APIServer
from gpuyard_cluster.kubelet.disks import MemoryDisk
from gpuyard_cluster.kubelet.service import Kubelet
from gpuyard_cluster.wiring import identities, parts
from gpuyard_cluster.wiring.direct import DirectPodResources, connect
from gpuyard_cluster.wiring.feeding import on_loop
from gpuyard_cluster.wiring.parts import Options, own_resources
from gpuyard_device_plugin.service import Ports
from gpuyard_kube.runtime import AsyncioRuntime

ABOVE = 50
"""Clusters of more nodes than this are made of these."""


class DirectNode:
    """Runs within an `async with` block."""

    def __init__(self, node: YardNode, server: APIServer, options: Options) -> None:
        self._node, self._server, self._options = node, server, options
        self._runtime, self._disk, self._pod_resources = AsyncioRuntime(), MemoryDisk(), DirectPodResources()
        self.kubelet = self._made_kubelet()
        api = DirectApi(server, "gpuyard-device-plugin", identities.device_plugin(node.name))
        self.plugin = parts.device_plugin(
            node, Ports(api, self._runtime, self._pod_resources, options.narrate), options
        )
        self._ends, self._kubelet_ends = contextlib.AsyncExitStack(), contextlib.AsyncExitStack()

    async def __aenter__(self) -> Self:
        self._ends.push_async_callback(self._kubelet_ends.aclose)
        self._ends.push_async_callback(self._runtime.close)
        self._ends.callback(on_loop(self._server, self.plugin, own_resources(self._node.name)).stop)
        self._start_kubelet()
        return self

    async def restart_kubelet(self) -> None:
        """The kubelet dies and starts anew with what is on its disk."""
        await self._kubelet_ends.aclose()
        self.kubelet = self._made_kubelet()
        self._start_kubelet()

    def _made_kubelet(self) -> Kubelet:
        api = DirectApi(self._server, "kubelet", identities.kubelet(self._node.name))
        return parts.kubelet(self._node, api, self._runtime, self._disk, self._options, heartbeats=True)

    def _start_kubelet(self) -> None:
        line = AsyncioRuntime()
        self._kubelet_ends.callback(self.kubelet.stop)
        self._kubelet_ends.push_async_callback(line.close)
        self._kubelet_ends.callback(on_loop(self._server, self.kubelet, own_resources(self._node.name)).stop)
        self.kubelet.start()
        self._pod_resources.kubelet = self.kubelet
        connect(self.kubelet, self.plugin, line)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._ends.aclose()
