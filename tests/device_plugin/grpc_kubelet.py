"""A kubelet of a few lines on real unix sockets: it takes registrations, follows the lists, and lists pods."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import grpc

from gpuyard_device_plugin.kubelet_api import deviceplugin_v1beta1_pb2 as kubelet
from gpuyard_device_plugin.kubelet_api import deviceplugin_v1beta1_pb2_grpc as kubelet_grpc
from gpuyard_device_plugin.kubelet_api import podresources_v1_pb2 as podresources
from gpuyard_device_plugin.kubelet_api import podresources_v1_pb2_grpc as podresources_grpc
from gpuyard_device_plugin.ports import PodResources

DEADLINE_SECONDS = 10
_OPTIONS = (("grpc.default_authority", "localhost"), ("grpc.use_local_subchannel_pool", 1))


class GrpcKubelet:
    """Served in `folder`. Every change of what it knows wakes `until`."""

    def __init__(self, folder: Path, pods: PodResources | None = None) -> None:
        self.folder, self.pods = folder, pods
        self.registrations: list[kubelet.RegisterRequest] = []
        self.options: dict[str, kubelet.DevicePluginOptions] = {}
        self.lists: dict[str, list[list[kubelet.Device]]] = {}
        self.ended: list[str] = []
        self.refuse = False
        self._changed = asyncio.Condition()
        self._streams: dict[str, asyncio.Task[None]] = {}
        self._server: Any = None

    @property
    def socket(self) -> Path:
        return self.folder / "kubelet.sock"

    async def start(self) -> None:
        """As a kubelet does: delete every socket, then serve."""
        for found in self.folder.glob("*.sock"):
            found.unlink()
        self._server = grpc.aio.server()
        kubelet_grpc.add_RegistrationServicer_to_server(_Registration(self), self._server)
        podresources_grpc.add_PodResourcesListerServicer_to_server(_Lister(self), self._server)
        self._server.add_insecure_port(f"unix://{self.socket}")
        await self._server.start()

    async def stop(self) -> None:
        """As if the process had died: its streams end, its socket goes with it."""
        for stream in self._streams.values():
            stream.cancel()
        await asyncio.gather(*self._streams.values(), return_exceptions=True)
        self._streams.clear()
        await self._server.stop(None)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(DEADLINE_SECONDS), self._changed:
            await self._changed.wait_for(condition)

    async def hang_up(self, resource: str) -> None:
        """Drop one stream, as kubelets up to 1.36 do when an older stream of the resource ends."""
        stream = self._streams.pop(resource)
        stream.cancel()
        with suppress(asyncio.CancelledError):
            await stream

    def call(self, endpoint: str) -> Any:
        """The plugin's verbs, on a channel to be closed by the caller."""
        return grpc.aio.insecure_channel(f"unix://{self.folder / endpoint}", options=_OPTIONS)

    async def register(self, request: kubelet.RegisterRequest) -> None:
        async with self.call(request.endpoint) as channel:
            stub: Any = kubelet_grpc.DevicePluginStub(channel)
            self.options[request.resource_name] = await stub.GetDevicePluginOptions(kubelet.Empty())
        if request.resource_name in self._streams:
            await self.hang_up(request.resource_name)
        self._streams[request.resource_name] = asyncio.create_task(self._follow(request))
        self.registrations.append(request)
        await self._note()

    async def _follow(self, request: kubelet.RegisterRequest) -> None:
        async with self.call(request.endpoint) as channel:
            stub: Any = kubelet_grpc.DevicePluginStub(channel)
            with suppress(grpc.aio.AioRpcError):
                async for message in stub.ListAndWatch(kubelet.Empty()):
                    self.lists.setdefault(request.resource_name, []).append(list(message.devices))
                    await self._note()
        self.ended.append(request.resource_name)
        await self._note()

    async def _note(self) -> None:
        async with self._changed:
            self._changed.notify_all()


class _Registration(kubelet_grpc.RegistrationServicer):
    def __init__(self, kubelet_: GrpcKubelet) -> None:
        self._kubelet = kubelet_

    async def Register(self, request: kubelet.RegisterRequest, context: Any) -> kubelet.Empty:  # noqa: N802
        if self._kubelet.refuse:
            self._kubelet.refuse = False
            await context.abort(grpc.StatusCode.UNKNOWN, "not now")
        await self._kubelet.register(request)
        return kubelet.Empty()


class _Lister(podresources_grpc.PodResourcesListerServicer):
    def __init__(self, kubelet_: GrpcKubelet) -> None:
        self._kubelet = kubelet_

    async def List(self, request: Any, context: Any) -> Any:  # noqa: N802
        assert self._kubelet.pods is not None
        return await self._kubelet.pods.list()

    async def Get(self, request: Any, context: Any) -> Any:  # noqa: N802
        assert self._kubelet.pods is not None
        found = await self._kubelet.pods.get(request.pod_namespace, request.pod_name)
        if found is None:
            await context.abort(grpc.StatusCode.UNKNOWN, "pod not found")
        return podresources.GetPodResourcesResponse(pod_resources=found)

    async def GetAllocatableResources(self, request: Any, context: Any) -> Any:  # noqa: N802
        raise NotImplementedError


@asynccontextmanager
async def short_folder() -> AsyncIterator[Path]:
    """A folder whose name leaves room for a socket's: paths of sockets end at 107 bytes."""
    folder = Path(tempfile.mkdtemp(prefix="gy"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
