"""A kubelet that serves its sockets in real time, and a tiny plugin on the other end."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc

from gpuyard.writes import JSON, Reply, Write
from gpuyard_cluster.kubelet.disks import MemoryDisk
from gpuyard_cluster.kubelet.node_status import Machine
from gpuyard_cluster.kubelet.service import Kubelet
from gpuyard_cluster.kubelet.sockets import KubeletSockets
from gpuyard_device_plugin.kubelet_api import deviceplugin_v1beta1_pb2 as wire
from gpuyard_device_plugin.kubelet_api import deviceplugin_v1beta1_pb2_grpc as grpc_wire
from gpuyard_kube.runtime import AsyncioRuntime
from tests.cluster.kubelet.counting_plugin import listed
from tests.cluster.small_api import node, pod

GPU = "nvidia.com/gpu"
OPTIONS = (("grpc.default_authority", "localhost"), ("grpc.use_local_subchannel_pool", 1))


class AnyApi:
    """Takes every write."""

    def __init__(self) -> None:
        self.statuses: asyncio.Queue[JSON] = asyncio.Queue()

    async def send(self, write: Write) -> Reply:
        body: Any = write.body
        if write.path.endswith("/status"):
            self.statuses.put_nowait(body["status"])
        return Reply(200, body)

    async def read(self, path: str, **query: str) -> Reply:
        raise NotImplementedError(path)


class TinyPlugin(grpc_wire.DevicePluginServicer):
    """Serves two devices; `stream` ends its ListAndWatch, `asked` its wait in PreStartContainer."""

    def __init__(self, folder: Path, endpoint: str, *ids: str) -> None:
        self.folder, self.endpoint, self.ids = folder, endpoint, ids
        self.stream, self.asked = asyncio.Event(), asyncio.Event()
        self.asked.set()
        self.refuse = self.not_ready = False
        self.server: Any = grpc.aio.server()

    async def start(self) -> None:
        grpc_wire.add_DevicePluginServicer_to_server(self, self.server)
        self.server.add_insecure_port(f"unix://{self.folder / self.endpoint}")
        await self.server.start()

    async def stop(self) -> None:
        self.stream.set()
        await self.server.stop(None)

    async def register(self, **changes: str) -> None:
        request: dict[str, Any] = {
            "version": "v1beta1",
            "endpoint": self.endpoint,
            "resource_name": GPU,
            **changes,
        }
        async with grpc.aio.insecure_channel(
            f"unix://{self.folder / 'kubelet.sock'}", options=OPTIONS
        ) as channel:
            stub: Any = grpc_wire.RegistrationStub(channel)
            await stub.Register(wire.RegisterRequest(**request), timeout=5)

    async def GetDevicePluginOptions(self, request: Any, context: Any) -> wire.DevicePluginOptions:  # noqa: N802
        return wire.DevicePluginOptions(
            get_preferred_allocation_available=True, pre_start_required=self.not_ready
        )

    async def ListAndWatch(  # noqa: N802
        self, request: Any, context: Any
    ) -> AsyncIterator[wire.ListAndWatchResponse]:
        yield wire.ListAndWatchResponse(devices=listed(*self.ids))
        await self.stream.wait()

    async def GetPreferredAllocation(  # noqa: N802
        self, request: wire.PreferredAllocationRequest, context: Any
    ) -> wire.PreferredAllocationResponse:
        ids = sorted(request.container_requests[0].available_deviceIDs)[-1:]
        answer = wire.ContainerPreferredAllocationResponse(deviceIDs=ids)
        return wire.PreferredAllocationResponse(container_responses=[answer])

    async def Allocate(self, request: wire.AllocateRequest, context: Any) -> wire.AllocateResponse:  # noqa: N802
        if self.refuse:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, "not these")
        envs = {"IDS": ",".join(request.container_requests[0].devices_ids)}
        return wire.AllocateResponse(container_responses=[wire.ContainerAllocateResponse(envs=envs)])

    async def PreStartContainer(  # noqa: N802
        self, request: wire.PreStartContainerRequest, context: Any
    ) -> wire.PreStartContainerResponse:
        await self.asked.wait()
        await context.abort(grpc.StatusCode.FAILED_PRECONDITION, f"{request.devices_ids[0]} is not ready")
        return wire.PreStartContainerResponse()


def waiting(status: JSON) -> JSON:
    """What the pod's container waits for, by a status of the pod."""
    found: JSON = (status.get("containerStatuses") or [{}])[0].get("state", {}).get("waiting", {})
    return found


class Station:
    """A kubelet with its sockets."""

    def __init__(self, folder: Path, name: str = "node-1") -> None:
        self.api, self.runtime = AnyApi(), AsyncioRuntime()
        self.beats: asyncio.Queue[str] = asyncio.Queue()
        self.kubelet = Kubelet(
            Machine(name, {}, {"cpu": "8", "memory": "32Gi", "pods": "110"}),
            self.api,
            self.runtime,
            MemoryDisk(),
            seed=1,
            narrate=lambda beat: self.beats.put_nowait(beat.text),
        )
        self.sockets = KubeletSockets(self.kubelet, folder)
        self.name = name

    async def start(self) -> None:
        self.kubelet.start()
        known = node(self.name)
        known["metadata"]["uid"] = "node-uid"
        self.kubelet.replace("nodes", [known])
        self.kubelet.replace("pods", [])
        await self.sockets.start()

    async def stop(self) -> None:
        await self.sockets.stop()
        self.kubelet.stop()
        await self.runtime.close()

    async def plugin(self, endpoint: str = "tiny.sock", *ids: str) -> TinyPlugin:
        made = TinyPlugin(self.sockets.plugin_directory, endpoint, *(ids or ("d0", "d1")))
        await made.start()
        return made

    async def told(self, text: str) -> None:
        while text not in await asyncio.wait_for(self.beats.get(), 5):
            pass

    async def status(self, wanted: Callable[[JSON], bool]) -> JSON:
        while True:
            found = await asyncio.wait_for(self.api.statuses.get(), 5)
            if wanted(found):
                return found

    def bind(self, name: str) -> None:
        bound = pod(name, {GPU: "1"}, nodeName=self.name)
        bound["metadata"]["uid"] = f"uid-{name}"
        self.kubelet.observe("pods", "ADDED", bound)


@asynccontextmanager
async def running() -> AsyncIterator[Station]:
    """A station in a directory whose path is short enough for sockets."""
    folder = Path(tempfile.mkdtemp(prefix="gy"))
    station = Station(folder)
    try:
        await station.start()
        yield station
    finally:
        await station.stop()
        shutil.rmtree(folder)
