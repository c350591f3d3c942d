"""The verbs over gRPC: answers, refusals as the pod's status will show them, and sockets that are nobody else's."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from gpuyard import vocabulary
from gpuyard_device_plugin.kubelet_api import deviceplugin_v1beta1_pb2 as kubelet
from gpuyard_device_plugin.kubelet_api import deviceplugin_v1beta1_pb2_grpc as kubelet_grpc
from gpuyard_device_plugin.ports import PluginSpec, Ports
from gpuyard_device_plugin.server import ResourceServer, SocketPathError
from gpuyard_device_plugin.service import DevicePlugin, NotReadyError
from gpuyard_kube.runtime import AsyncioRuntime
from tests.device_plugin.fakes import NODE, MemoryApi, TinyKubelet, gpus
from tests.device_plugin.grpc_kubelet import GrpcKubelet, short_folder

GPUS = gpus(2)


class NotReadyPlugin(DevicePlugin):
    async def pre_start(self, request: kubelet.PreStartContainerRequest) -> None:
        raise NotReadyError(f"{', '.join(request.devices_ids)} is not ready")


def plugin(kind: type[DevicePlugin] = DevicePlugin) -> DevicePlugin:
    return kind(PluginSpec(NODE, GPUS), Ports(MemoryApi(), AsyncioRuntime(), TinyKubelet()))


@asynccontextmanager
async def verbs(kind: type[DevicePlugin] = DevicePlugin) -> AsyncIterator[Any]:
    async with short_folder() as folder:
        server = ResourceServer(plugin(kind), vocabulary.GPU, folder)
        await server.start()
        try:
            async with GrpcKubelet(folder).call(server.endpoint) as channel:
                yield kubelet_grpc.DevicePluginStub(channel)
        finally:
            await server.stop()


def allocation(*ids: str) -> kubelet.AllocateRequest:
    return kubelet.AllocateRequest(container_requests=[kubelet.ContainerAllocateRequest(devices_ids=ids)])


async def test_allocate_answers_with_the_environment() -> None:
    async with verbs() as stub:
        answer = await stub.Allocate(allocation(GPUS[1].uuid, GPUS[0].uuid))
        envs = dict(answer.container_responses[0].envs)
        assert envs["NVIDIA_VISIBLE_DEVICES"] == f"{GPUS[0].uuid},{GPUS[1].uuid}"


async def test_a_refusal_carries_code_and_words() -> None:
    async with verbs() as stub:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await stub.Allocate(allocation("GPU-x"))
        assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        words = 'invalid allocation request for "nvidia.com/gpu": invalid request: unknown device: GPU-x'
        assert refused.value.details() == words


async def test_the_other_verbs_answer() -> None:
    async with verbs() as stub:
        asked = kubelet.ContainerPreferredAllocationRequest(
            available_deviceIDs=[gpu.uuid for gpu in reversed(GPUS)], allocation_size=1
        )
        request = kubelet.PreferredAllocationRequest(container_requests=[asked])
        answer = await stub.GetPreferredAllocation(request)
        assert answer.container_responses[0].deviceIDs == [GPUS[0].uuid]
        assert await stub.PreStartContainer(kubelet.PreStartContainerRequest()) is not None
        options = await stub.GetDevicePluginOptions(kubelet.Empty())
        assert options.get_preferred_allocation_available
        assert not options.pre_start_required


async def test_a_container_that_must_not_start_yet_is_an_error_with_its_reason() -> None:
    async with verbs(NotReadyPlugin) as stub:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await stub.PreStartContainer(kubelet.PreStartContainerRequest(devices_ids=["MIG-x"]))
        assert refused.value.code() is grpc.StatusCode.FAILED_PRECONDITION
        assert refused.value.details() == "MIG-x is not ready"


async def test_a_second_server_takes_the_name_over_and_the_first_one_leaves_it_alone() -> None:
    async with short_folder() as folder:
        first, second = (ResourceServer(plugin(), vocabulary.GPU, folder) for _ in range(2))
        await first.start()
        await second.start()
        assert not first.is_bound
        assert second.is_bound
        await first.stop()
        async with GrpcKubelet(folder).call(second.endpoint) as channel:
            stub: Any = kubelet_grpc.DevicePluginStub(channel)
            assert await stub.GetDevicePluginOptions(kubelet.Empty()) is not None
        await second.stop()
        assert list(folder.iterdir()) == []


def test_a_folder_with_too_long_a_name_is_refused_with_a_remedy(tmp_path: Path) -> None:
    folder = tmp_path / ("x" * 100)
    server = ResourceServer(plugin(), vocabulary.GPU, folder)
    with pytest.raises(SocketPathError, match="use a shorter folder"):
        asyncio.run(server.start())


def test_a_folder_that_is_not_there_is_refused_with_a_remedy(tmp_path: Path) -> None:
    server = ResourceServer(plugin(), vocabulary.GPU, tmp_path / "none")
    with pytest.raises(SocketPathError, match="none: not a folder to write to; use the kubelet's folder"):
        asyncio.run(server.start())


def test_each_resource_has_a_socket_of_its_own_that_is_not_named_like_nvidias() -> None:
    names = {
        ResourceServer(plugin(), resource, Path()).endpoint
        for resource in ("nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/mig-1g.5gb")
    }
    assert names == {"gpuyard-gpu.sock", "gpuyard-gpu.shared.sock", "gpuyard-mig-1g.5gb.sock"}


@pytest.mark.parametrize("turns", range(4))
def test_a_start_that_is_cancelled_leaves_a_server_that_can_be_stopped(turns: int) -> None:
    problems: list[Any] = []

    async def story() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, problem: problems.append(problem))
        async with short_folder() as folder:
            server = ResourceServer(plugin(), vocabulary.GPU, folder)
            start = asyncio.create_task(server.start())
            for _ in range(turns):
                await asyncio.sleep(0)
            start.cancel()
            await asyncio.gather(start, return_exceptions=True)
            await server.stop()
            assert list(folder.iterdir()) == []
            gc.collect()

    asyncio.run(story())
    gc.collect()
    assert problems == []


def test_a_stop_does_not_swallow_that_it_is_cancelled_and_goes_on_all_the_same() -> None:
    """Whoever is cancelled in it would otherwise go on for ever, and who waits for its end would wait as long."""

    async def cancelled_after(turns: int, server: ResourceServer) -> bool:
        await server.start()
        stop = asyncio.create_task(server.stop())
        for _ in range(turns):
            await asyncio.sleep(0)
        ended = stop.done()
        stop.cancel()
        await asyncio.gather(stop, return_exceptions=True)
        await server.stop()
        assert ended or stop.cancelled(), turns
        return not ended

    async def story() -> None:
        async with short_folder() as folder:
            server = ResourceServer(plugin(), vocabulary.GPU, folder)
            for _ in range(10):  # which turn it is in which that can happen differs
                turns = 0
                while await cancelled_after(turns, server):
                    turns += 1
                assert turns > 1

    asyncio.run(story())
