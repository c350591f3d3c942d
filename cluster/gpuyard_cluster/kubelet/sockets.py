"""The kubelet's unix sockets: where device plugins register, and where they ask who holds what.

Stands for the kubelet's plugin registration server (plugin/v1beta1/server.go), ListAndWatch loops and pod-resources
server. A kubelet that starts removes every socket from the plugin directory: so plugins learn to register again.
A plugin that registers a resource anew takes over at once; the end of its older stream changes nothing (fixed so in
Kubernetes 1.37, kubernetes#121994).
"""

import asyncio
from pathlib import Path
from typing import Any

import grpc

from gpuyard_cluster.kubelet import registrations
from gpuyard_cluster.kubelet.allocation import PluginError
from gpuyard_cluster.kubelet.plugin_channel import PluginChannel
from gpuyard_cluster.kubelet.service import Kubelet
from gpuyard_device_plugin.kubelet_api.deviceplugin_v1beta1_pb2 import Empty, RegisterRequest
from gpuyard_device_plugin.kubelet_api.deviceplugin_v1beta1_pb2_grpc import (
    RegistrationServicer,
    add_RegistrationServicer_to_server,
)
from gpuyard_device_plugin.kubelet_api.podresources_v1_pb2 import (
    AllocatableResourcesRequest,
    AllocatableResourcesResponse,
    GetPodResourcesRequest,
    GetPodResourcesResponse,
    ListPodResourcesRequest,
    ListPodResourcesResponse,
)
from gpuyard_device_plugin.kubelet_api.podresources_v1_pb2_grpc import (
    PodResourcesListerServicer,
    add_PodResourcesListerServicer_to_server,
)

_STOP_SECONDS = 0.5


class KubeletSockets:
    """The sockets of one kubelet under `directory`, whose path must be short: a socket's has at most 107 bytes."""

    def __init__(self, kubelet: Kubelet, directory: Path) -> None:
        self._kubelet = kubelet
        self.plugin_directory = directory / "device-plugins"
        self.pod_resources_socket = directory / "pod-resources" / "kubelet.sock"
        self._watching: dict[str, asyncio.Task[None]] = {}
        self._servers: list[Any] = []

    @property
    def registration_socket(self) -> Path:
        """Where plugins register."""
        return self.plugin_directory / "kubelet.sock"

    async def start(self) -> None:
        """Serve both. OSError or RuntimeError when a socket cannot be made."""
        self.plugin_directory.mkdir(parents=True, exist_ok=True)
        self.pod_resources_socket.parent.mkdir(parents=True, exist_ok=True)
        for stale in [*self.plugin_directory.iterdir(), self.pod_resources_socket]:
            if stale.is_socket():
                stale.unlink()
        registration, resources = grpc.aio.server(), grpc.aio.server()
        add_RegistrationServicer_to_server(_Registration(self), registration)
        add_PodResourcesListerServicer_to_server(_PodResources(self._kubelet), resources)
        registration.add_insecure_port(f"unix://{self.registration_socket}")
        resources.add_insecure_port(f"unix://{self.pod_resources_socket}")
        self._servers = [registration, resources]
        # gRPC can stop a server before its start or after it, not in the middle: who is cancelled waits for its end.
        starting = asyncio.gather(*(server.start() for server in self._servers))
        try:
            await asyncio.shield(starting)
        finally:
            await asyncio.gather(starting, return_exceptions=True)

    async def stop(self) -> None:
        """End every stream, then serve no more; the kubelet is told of no plugin that is gone."""
        watching, self._watching = list(self._watching.values()), {}
        for task in watching:
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)
        servers, self._servers = self._servers, []
        await asyncio.gather(*(server.stop(_STOP_SECONDS) for server in servers))

    async def connect(self, resource: str, endpoint: str) -> None:
        """Dial the plugin that registered and follow its lists. PluginError when it does not answer."""
        channel = PluginChannel(self.plugin_directory / endpoint)
        try:
            await self._kubelet.plugin_registered(resource, channel)
        except PluginError:
            await channel.close()
            raise
        older = self._watching.get(resource)
        self._watching[resource] = asyncio.create_task(
            self._follow(resource, channel), name=f"list {resource}"
        )
        if older is not None:
            older.cancel()

    async def _follow(self, resource: str, channel: PluginChannel) -> None:
        """Runs until the plugin ends its stream, or a newer one takes over."""
        try:
            async for devices in channel.lists():
                self._kubelet.devices(resource, devices)
            if self._watching.get(resource) is asyncio.current_task():
                del self._watching[resource]
                self._kubelet.plugin_gone(resource)
        finally:
            await channel.close()


class _Registration(RegistrationServicer):
    def __init__(self, sockets: KubeletSockets) -> None:
        self._sockets = sockets

    async def Register(self, request: RegisterRequest, context: Any) -> Empty:  # noqa: N802
        problem = registrations.problem(request)
        if problem:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, problem)
        try:
            await self._sockets.connect(request.resource_name, request.endpoint)
        except PluginError as error:
            problem = f"failed to dial device plugin: {error}"
            await context.abort(grpc.StatusCode.UNAVAILABLE, problem)
        return Empty()


class _PodResources(PodResourcesListerServicer):
    def __init__(self, kubelet: Kubelet) -> None:
        self._kubelet = kubelet

    async def List(  # noqa: N802
        self, request: ListPodResourcesRequest, context: Any
    ) -> ListPodResourcesResponse:
        return self._kubelet.pod_resources()

    async def Get(  # noqa: N802
        self, request: GetPodResourcesRequest, context: Any
    ) -> GetPodResourcesResponse:
        name, namespace = request.pod_name, request.pod_namespace
        for found in self._kubelet.pod_resources().pod_resources:
            if (found.name, found.namespace) == (name, namespace):
                return GetPodResourcesResponse(pod_resources=found)
        await context.abort(grpc.StatusCode.UNKNOWN, f"pod {name} in namespace {namespace} not found")
        raise AssertionError("abort does not return")

    async def GetAllocatableResources(  # noqa: N802
        self, request: AllocatableResourcesRequest, context: Any
    ) -> AllocatableResourcesResponse:
        await context.abort(grpc.StatusCode.UNIMPLEMENTED, "ask the Node for its allocatable")
        raise AssertionError("abort does not return")
