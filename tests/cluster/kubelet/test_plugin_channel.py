"""A device plugin that goes while it is asked: the kubelet's admissions go on, and the pod is refused with words."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from gpuyard_cluster.kubelet.allocation import PluginError
from gpuyard_cluster.kubelet.plugin_channel import PluginChannel
from gpuyard_device_plugin.kubelet_api.deviceplugin_v1beta1_pb2 import (
    AllocateRequest,
    PreferredAllocationRequest,
    PreStartContainerRequest,
)
from gpuyard_device_plugin.kubelet_api.deviceplugin_v1beta1_pb2_grpc import (
    DevicePluginServicer,
    add_DevicePluginServicer_to_server,
)
from tests.device_plugin.grpc_kubelet import short_folder

Ask = Callable[[PluginChannel], Awaitable[object]]
VERBS: tuple[Ask, ...] = (
    lambda channel: channel.options(),
    lambda channel: channel.preferred(PreferredAllocationRequest()),
    lambda channel: channel.allocate(AllocateRequest()),
    lambda channel: channel.pre_start(PreStartContainerRequest()),
)


class Silent(DevicePluginServicer):
    """Answers nobody. `asked` counts."""

    def __init__(self) -> None:
        self.asked = asyncio.Semaphore(0)

    async def _wait(self, _request: object, _context: object) -> None:
        self.asked.release()
        await asyncio.Event().wait()

    GetDevicePluginOptions = GetPreferredAllocation = Allocate = PreStartContainer = _wait  # type: ignore[assignment]


@asynccontextmanager
async def silent() -> AsyncIterator[tuple[PluginChannel, Silent]]:
    async with short_folder() as folder:
        plugin, server = Silent(), grpc.aio.server()
        add_DevicePluginServicer_to_server(plugin, server)  # type: ignore[no-untyped-call]
        server.add_insecure_port(f"unix://{folder / 'plugin.sock'}")
        await server.start()
        channel = PluginChannel(folder / "plugin.sock")
        try:
            yield channel, plugin
        finally:
            await channel.close()
            await server.stop(None)


async def refused(call: Awaitable[object]) -> str:
    with pytest.raises(PluginError) as error:
        await call
    return str(error.value)


@pytest.mark.parametrize("ask", VERBS, ids=("options", "preferred", "allocate", "pre_start"))
async def test_a_channel_that_is_closed_during_a_call_or_before_refuses_and_cancels_nobody(ask: Ask) -> None:
    async with silent() as (channel, plugin):
        call = asyncio.create_task(refused(ask(channel)))
        await plugin.asked.acquire()
        await channel.close()
        assert "the client connection is closing" in await call
        assert "the client connection is closing" in await refused(ask(channel))


async def test_whoever_is_cancelled_while_it_waits_for_a_plugin_is_cancelled() -> None:
    async with silent() as (channel, plugin):
        call = asyncio.create_task(VERBS[2](channel))  # type: ignore[arg-type]
        await plugin.asked.acquire()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call


async def test_the_list_of_a_closed_channel_has_ended() -> None:
    channel = PluginChannel(Path("/nowhere/plugin.sock"))
    await channel.close()
    found: list[Any] = [devices async for devices in channel.lists()]
    assert found == []
