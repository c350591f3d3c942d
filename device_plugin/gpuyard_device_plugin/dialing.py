"""Calls to the kubelet on its sockets: registration, and the list of pods.

Stands for the client half of k8s.io/kubelet/pkg/apis. Each call dials anew: a channel that outlives a kubelet would
wait with growing pauses before it looks for the next one.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import grpc

from gpuyard_device_plugin.kubelet_api import deviceplugin_v1beta1_pb2 as kubelet
from gpuyard_device_plugin.kubelet_api import deviceplugin_v1beta1_pb2_grpc as kubelet_grpc
from gpuyard_device_plugin.kubelet_api import podresources_v1_pb2 as podresources
from gpuyard_device_plugin.kubelet_api import podresources_v1_pb2_grpc as podresources_grpc
from gpuyard_device_plugin.ports import PodResourcesError

API_VERSION: Final = "v1beta1"
CALL_SECONDS: Final = 5.0
GET_SECONDS: Final = 0.02
"""Between two Gets. The kubelet refuses more than 100 calls a second, and an admission's List must not be refused."""

_OPTIONS: Final = (
    # By default the authority is the socket's path, which some servers refuse (grpc/grpc#38142).
    ("grpc.default_authority", "localhost"),
    # Otherwise a channel to this path could be led to a server that is gone, or to another one's before it.
    ("grpc.use_local_subchannel_pool", 1),
    # A node full of pods with thousands of shares.
    ("grpc.max_receive_message_length", 16 * 1024 * 1024),
)


class RegistrationError(Exception):
    """The kubelet cannot be reached, or refuses."""


async def register(socket: Path, request: kubelet.RegisterRequest) -> None:
    """Register a plugin that serves already: the kubelet calls back before it answers."""
    try:
        async with _channel(socket) as channel:
            stub: Any = kubelet_grpc.RegistrationStub(channel)
            await stub.Register(request, timeout=CALL_SECONDS)
    except grpc.aio.AioRpcError as error:
        raise RegistrationError(_words(socket, error)) from error


class KubeletPodResources:
    """`gpuyard_device_plugin.ports.PodResources` on a kubelet's socket."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._turn = asyncio.Lock()

    async def list(self) -> podresources.ListPodResourcesResponse:
        try:
            async with _channel(self._socket) as channel:
                stub: Any = podresources_grpc.PodResourcesListerStub(channel)
                found = await stub.List(podresources.ListPodResourcesRequest(), timeout=CALL_SECONDS)
        except grpc.aio.AioRpcError as error:
            raise PodResourcesError(_words(self._socket, error)) from error
        assert isinstance(found, podresources.ListPodResourcesResponse)
        return found

    async def get(self, namespace: str, name: str) -> podresources.PodResources | None:
        request = podresources.GetPodResourcesRequest(pod_name=name, pod_namespace=namespace)
        async with self._turn:
            await asyncio.sleep(GET_SECONDS)
            try:
                async with _channel(self._socket) as channel:
                    stub: Any = podresources_grpc.PodResourcesListerStub(channel)
                    found = await stub.Get(request, timeout=CALL_SECONDS)
            except grpc.aio.AioRpcError as error:
                if error.code() is grpc.StatusCode.UNKNOWN:  # a Go error without a code: there is no such pod
                    return None
                raise PodResourcesError(_words(self._socket, error)) from error
        assert isinstance(found, podresources.GetPodResourcesResponse)
        return found.pod_resources


@asynccontextmanager
async def _channel(socket: Path) -> AsyncIterator[grpc.aio.Channel]:
    async with grpc.aio.insecure_channel(f"unix://{socket.absolute()}", options=_OPTIONS) as channel:
        yield channel


def _words(socket: Path, error: grpc.aio.AioRpcError) -> str:
    return f"{socket}: {error.code().name}: {error.details()}"
