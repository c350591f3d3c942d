"""A running device plugin and a kubelet in one folder, over real gRPC on unix sockets."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from gpuyard import vocabulary
from gpuyard_device_plugin.ports import PluginSpec, Ports
from gpuyard_device_plugin.service import DevicePlugin
from gpuyard_device_plugin.shell import PluginShell
from gpuyard_kube.runtime import AsyncioRuntime
from tests.device_plugin.fakes import NODE, MemoryApi, TinyKubelet, gpus
from tests.device_plugin.grpc_kubelet import DEADLINE_SECONDS, GrpcKubelet, short_folder

GPU = vocabulary.GPU
ENDPOINT = "gpuyard-gpu.sock"


@dataclass
class Scene:
    """A kubelet and a running plugin in one folder."""

    kubelet: GrpcKubelet
    plugin: DevicePlugin
    shell: PluginShell
    task: "asyncio.Task[None]"

    async def registered(self, times: int) -> None:
        await self.kubelet.until(lambda: len(self.kubelet.registrations) >= times)
        await self.kubelet.until(lambda: len(self.kubelet.lists.get(GPU, ())) >= times)

    async def stop(self) -> None:
        await ended(self.task)


@asynccontextmanager
async def scene(*, started: bool = True) -> AsyncIterator[Scene]:
    async with short_folder() as folder:
        kubelet = GrpcKubelet(folder)
        if started:
            await kubelet.start()
        runtime = AsyncioRuntime()
        plugin = DevicePlugin(PluginSpec(NODE, gpus(2)), Ports(MemoryApi(), runtime, TinyKubelet()))
        shell = PluginShell(plugin, folder, poll_seconds=0.01)
        found = Scene(kubelet, plugin, shell, asyncio.create_task(shell.run()))
        try:
            yield found
        finally:
            await found.stop()
            await kubelet.stop()
            await runtime.close()


async def ended(task: "asyncio.Task[None]") -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


def sockets(folder: Path) -> list[str]:
    return sorted(found.name for found in folder.iterdir())


async def until(condition: Callable[[], bool]) -> None:
    """What a kubelet does not hear of."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not condition():
            await asyncio.sleep(0.01)
