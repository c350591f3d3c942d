"""A device plugin on its unix socket.

Stands for the kubelet's device plugin client (plugin/v1beta1/client.go). Allocate has no time limit, as there.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.message import Message

from gpuyard_cluster.kubelet.allocation import PluginError
from gpuyard_device_plugin.kubelet_api.deviceplugin_v1beta1_pb2 import (
    AllocateRequest,
    AllocateResponse,
    Device,
    DevicePluginOptions,
    Empty,
    PreferredAllocationRequest,
    PreferredAllocationResponse,
    PreStartContainerRequest,
)
from gpuyard_device_plugin.kubelet_api.deviceplugin_v1beta1_pb2_grpc import DevicePluginStub

DIAL_SECONDS = 10.0
PRE_START_SECONDS = 30.0
_OPTIONS = (
    # grpcio's own default is the path of the socket, which some servers refuse (grpc/grpc#38142).
    ("grpc.default_authority", "localhost"),
    # Without it a new channel to the path of a restarted plugin may reach the one before.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.max_receive_message_length", 16 * 2**20),
)


class PluginChannel:
    """`PluginClient` over gRPC, on the running event loop."""

    def __init__(self, socket: Path) -> None:
        self._channel = grpc.aio.insecure_channel(f"unix://{socket}", options=_OPTIONS)
        # The generated types of stubs are those of the synchronous API.
        self._stub: Any = DevicePluginStub(self._channel)

    async def options(self) -> DevicePluginOptions:
        asked = self._stub.GetDevicePluginOptions
        options: DevicePluginOptions = await _answer(asked, Empty(), DIAL_SECONDS)
        return options

    async def preferred(self, request: PreferredAllocationRequest) -> PreferredAllocationResponse:
        answer: PreferredAllocationResponse = await _answer(self._stub.GetPreferredAllocation, request)
        return answer

    async def allocate(self, request: AllocateRequest) -> AllocateResponse:
        answer: AllocateResponse = await _answer(self._stub.Allocate, request)
        return answer

    async def pre_start(self, request: PreStartContainerRequest) -> None:
        await _answer(self._stub.PreStartContainer, request, PRE_START_SECONDS)

    async def lists(self) -> AsyncIterator[list[Device]]:
        """ListAndWatch: every complete list, until the stream ends, in whatever way."""
        try:
            async for message in self._stub.ListAndWatch(Empty()):
                yield list(message.devices)
        except (grpc.aio.AioRpcError, grpc.aio.UsageError):
            return

    async def close(self) -> None:
        """End all calls."""
        await self._channel.close(None)


async def _answer(call: Callable[..., Any], request: Message, timeout: float | None = None) -> Any:
    try:
        return await call(request, timeout=timeout)
    except grpc.aio.AioRpcError as error:
        # As Go writes it: FAILED_PRECONDITION -> FailedPrecondition.
        code = error.code().name.title().replace("_", "")
        raise PluginError(code, error.details() or "") from error
    except (grpc.aio.UsageError, asyncio.CancelledError) as error:
        if (task := asyncio.current_task()) is not None and task.cancelling():
            raise
        # The channel was closed, before or during the call: the plugin has gone, and its caller lives on.
        raise PluginError("Canceled", "grpc: the client connection is closing") from error
