"""The kubelet's protocols over real unix sockets, with a tiny plugin on the other end."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import grpc
import pytest

from gpuyard.writes import JSON, Reply, Write
from gpuyard_cluster.kubelet.disks import MemoryDisk
from gpuyard_cluster.kubelet.node_status import Machine
from gpuyard_cluster.kubelet.service import Kubelet
from gpuyard_cluster.kubelet.sockets import KubeletSockets
from gpuyard_device_plugin.kubelet_api import deviceplugin_v1beta1_pb2 as wire
from gpuyard_device_plugin.kubelet_api import deviceplugin_v1beta1_pb2_grpc as grpc_wire
from gpuyard_device_plugin.kubelet_api import podresources_v1_pb2 as resources_wire
from gpuyard_device_plugin.kubelet_api import podresources_v1_pb2_grpc as grpc_resources
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


def played(story: Callable[[Station], Coroutine[Any, Any, None]]) -> None:
    """Run a story in a directory whose path is short enough for sockets."""

    async def with_station() -> None:
        folder = Path(tempfile.mkdtemp(prefix="gy"))
        station = Station(folder)
        try:
            await station.start()
            await story(station)
        finally:
            await station.stop()
            shutil.rmtree(folder)

    asyncio.run(with_station())


def test_a_plugin_registers_lists_and_allocates() -> None:
    async def story(station: Station) -> None:
        plugin = await station.plugin()
        await plugin.register()
        await station.told("2 of 2 nvidia.com/gpu are healthy")
        station.bind("one")
        status = await station.status(lambda found: found.get("phase") == "Running")
        held = status["containerStatuses"][0]["allocatedResourcesStatus"]
        assert held == [{"name": GPU, "resources": [{"resourceID": "d1", "health": "Healthy"}]}], (
            "as preferred"
        )
        assert "IDS=d1" in [line.text for line in station.kubelet.logs("default", "one", "main")]
        await plugin.stop()

    played(story)


def test_a_refusal_reaches_the_pod_in_the_kubelets_words() -> None:
    async def story(station: Station) -> None:
        plugin = await station.plugin()
        plugin.refuse = True
        await plugin.register()
        await station.told("2 of 2")
        station.bind("one")
        status = await station.status(lambda found: found.get("phase") == "Failed")
        assert (
            "rpc error: code = FailedPrecondition desc = not these, which is unexpected" in status["message"]
        )
        await plugin.stop()

    played(story)


def test_a_container_that_must_not_start_yet_says_so_in_the_kubelets_words() -> None:
    async def story(station: Station) -> None:
        plugin = await station.plugin()
        plugin.not_ready = True
        await plugin.register()
        await station.told("2 of 2")
        station.bind("one")
        status = await station.status(lambda found: "message" in waiting(found))
        assert (status["phase"], waiting(status)["reason"]) == ("Pending", "CreateContainerConfigError")
        assert "rpc error: code = FailedPrecondition desc = d1 is not ready" in waiting(status)["message"]
        await plugin.stop()

    played(story)


def test_a_plugin_that_goes_while_it_is_asked_is_an_answer_too() -> None:
    async def story(station: Station) -> None:
        plugin = await station.plugin()
        plugin.not_ready = True
        plugin.asked.clear()
        await plugin.register()
        await station.told("2 of 2")
        station.bind("one")
        await station.status(lambda found: waiting(found).get("reason") == "ContainerCreating")
        plugin.stream.set()
        status = await station.status(lambda found: "message" in waiting(found))
        assert (
            "rpc error: code = Canceled desc = grpc: the client connection is closing"
            in waiting(status)["message"]
        )
        plugin.asked.set()
        await plugin.stop()

    played(story)


def test_pod_resources_are_served() -> None:
    async def story(station: Station) -> None:
        plugin = await station.plugin()
        await plugin.register()
        await station.told("2 of 2")
        station.bind("one")
        await station.status(lambda found: found.get("phase") == "Running")
        socket = station.sockets.pod_resources_socket
        async with grpc.aio.insecure_channel(f"unix://{socket}", options=OPTIONS) as channel:
            stub: Any = grpc_resources.PodResourcesListerStub(channel)
            listing = await stub.List(resources_wire.ListPodResourcesRequest())
            assert listing.pod_resources[0].containers[0].devices[0].device_ids == ["d1"]
            request = resources_wire.GetPodResourcesRequest(pod_name="one", pod_namespace="default")
            assert (await stub.Get(request)).pod_resources == listing.pod_resources[0]
            with pytest.raises(grpc.aio.AioRpcError, match="pod two in namespace default not found"):
                await stub.Get(resources_wire.GetPodResourcesRequest(pod_name="two", pod_namespace="default"))
        await plugin.stop()

    played(story)


def test_when_the_plugins_stream_ends_its_devices_are_unhealthy_until_it_registers_again() -> None:
    async def story(station: Station) -> None:
        plugin = await station.plugin()
        await plugin.register()
        await station.told("2 of 2")
        plugin.stream.set()
        await station.told("device plugin for nvidia.com/gpu is gone")
        plugin.stream.clear()
        await plugin.register()
        await station.told("2 of 2")
        await plugin.stop()

    played(story)


def test_a_second_instance_takes_over_and_the_end_of_the_first_changes_nothing() -> None:
    async def story(station: Station) -> None:
        first, second = await station.plugin(), await station.plugin("other.sock", "d0", "d1", "d2")
        await first.register()
        await station.told("2 of 2")
        await second.register()
        await station.told("3 of 3")
        await first.stop()
        station.bind("one")
        await station.told("admitted; main holds nvidia.com/gpu d2")
        assert station.beats.empty()
        await second.stop()

    played(story)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"version": "v1alpha"}, "v1alpha"),
        ({"resource_name": "gpu"}, "DOMAIN/NAME"),
        ({"endpoint": "../x.sock"}, "must name a socket"),
    ],
)
def test_a_bad_registration_is_refused_with_the_field(changes: dict[str, str], said: str) -> None:
    async def story(station: Station) -> None:
        plugin = await station.plugin()
        with pytest.raises(grpc.aio.AioRpcError, match=said):
            await plugin.register(**changes)
        await plugin.stop()

    played(story)


def test_a_plugin_that_does_not_serve_is_not_registered() -> None:
    async def story(station: Station) -> None:
        plugin = TinyPlugin(station.sockets.plugin_directory, "absent.sock")
        with pytest.raises(grpc.aio.AioRpcError, match="failed to dial device plugin"):
            await plugin.register()
        await plugin.server.stop(None)

    played(story)


def test_a_kubelet_that_starts_again_removes_every_socket_and_is_there_anew() -> None:
    async def story(station: Station) -> None:
        plugin = await station.plugin()
        await plugin.register()
        await station.told("2 of 2")
        await station.sockets.stop()
        await station.sockets.start()
        assert [found.name for found in station.sockets.plugin_directory.iterdir()] == ["kubelet.sock"]
        await plugin.stop()
        again = await station.plugin()
        await again.register()
        await station.told("2 of 2")
        await again.stop()

    played(story)


def test_many_kubelets_live_in_one_process() -> None:
    async def one(folder: Path, number: int) -> None:
        station = Station(folder / str(number), f"node-{number}")
        await station.start()
        plugin = await station.plugin("tiny.sock", f"only-{number}")
        await plugin.register()
        await station.told("1 of 1")
        station.bind("one")
        await station.told(f"main holds nvidia.com/gpu only-{number}")
        await plugin.stop()
        await station.stop()

    async def all_of_them(folder: Path) -> None:
        await _gathered([one(folder, number) for number in range(12)])

    folder = Path(tempfile.mkdtemp(prefix="gy"))
    try:
        asyncio.run(all_of_them(folder))
    finally:
        shutil.rmtree(folder)


async def _gathered(stories: list[Coroutine[Any, Any, None]]) -> None:
    waiting: list[Awaitable[None]] = list(stories)
    await asyncio.gather(*waiting)
