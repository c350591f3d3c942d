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
        api = DirectApi(server, "gpuyard-device-plugin", identities.device_plugin(node.name))
        self.plugin = parts.device_plugin(
            node, Ports(api, self._runtime, self._pod_resources, options.narrate), options
        )
        self._ends, self._kubelet_ends = contextlib.AsyncExitStack(), contextlib.AsyncExitStack()

    async def __aenter__(self) -> Self:
        self._ends.push_async_callback(self.stop_kubelet)
        self._ends.push_async_callback(self._runtime.close)
        self._ends.callback(on_loop(self._server, self.plugin, own_resources(self._node.name)).stop)
        await self.start_kubelet()
        return self

    async def start_kubelet(self) -> None:
        """One that knows what is on the node's disk."""
        api = DirectApi(self._server, "kubelet", identities.kubelet(self._node.name))
        self.kubelet = parts.kubelet(
            self._node, api, self._runtime, self._disk, self._options, heartbeats=True
        )
        line = AsyncioRuntime()
        self._kubelet_ends.callback(self.kubelet.stop)
        self._kubelet_ends.push_async_callback(line.close)
        self._kubelet_ends.callback(on_loop(self._server, self.kubelet, own_resources(self._node.name)).stop)
        self.kubelet.start()
        self._pod_resources.kubelet = self.kubelet
        connect(self.kubelet, self.plugin, line)

    async def stop_kubelet(self) -> None:
        await self._kubelet_ends.aclose()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._ends.aclose()
