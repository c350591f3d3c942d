"""The kubelet's protocols over real unix sockets, with a tiny plugin on the other end."""

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Coroutine
from pathlib import Path
from typing import Any

import grpc
import pytest

from gpuyard_device_plugin.kubelet_api import podresources_v1_pb2 as resources_wire
from gpuyard_device_plugin.kubelet_api import podresources_v1_pb2_grpc as grpc_resources
from tests.cluster.kubelet.station import GPU, OPTIONS, Station, TinyPlugin, running, waiting


async def test_a_plugin_registers_lists_and_allocates() -> None:
    async with running() as station:
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


async def test_a_refusal_reaches_the_pod_in_the_kubelets_words() -> None:
    async with running() as station:
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


async def test_a_container_that_must_not_start_yet_says_so_in_the_kubelets_words() -> None:
    async with running() as station:
        plugin = await station.plugin()
        plugin.not_ready = True
        await plugin.register()
        await station.told("2 of 2")
        station.bind("one")
        status = await station.status(lambda found: "message" in waiting(found))
        assert (status["phase"], waiting(status)["reason"]) == ("Pending", "CreateContainerConfigError")
        assert "rpc error: code = FailedPrecondition desc = d1 is not ready" in waiting(status)["message"]
        await plugin.stop()


async def test_a_plugin_that_goes_while_it_is_asked_is_an_answer_too() -> None:
    async with running() as station:
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


async def test_pod_resources_are_served() -> None:
    async with running() as station:
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


async def test_when_the_plugins_stream_ends_its_devices_are_unhealthy_until_it_registers_again() -> None:
    async with running() as station:
        plugin = await station.plugin()
        await plugin.register()
        await station.told("2 of 2")
        plugin.stream.set()
        await station.told("device plugin for nvidia.com/gpu is gone")
        plugin.stream.clear()
        await plugin.register()
        await station.told("2 of 2")
        await plugin.stop()


async def test_a_second_instance_takes_over_and_the_end_of_the_first_changes_nothing() -> None:
    async with running() as station:
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


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"version": "v1alpha"}, "v1alpha"),
        ({"resource_name": "gpu"}, "DOMAIN/NAME"),
        ({"endpoint": "../x.sock"}, "must name a socket"),
    ],
)
async def test_a_bad_registration_is_refused_with_the_field(changes: dict[str, str], said: str) -> None:
    async with running() as station:
        plugin = await station.plugin()
        with pytest.raises(grpc.aio.AioRpcError, match=said):
            await plugin.register(**changes)
        await plugin.stop()


async def test_a_plugin_that_does_not_serve_is_not_registered() -> None:
    async with running() as station:
        plugin = TinyPlugin(station.sockets.plugin_directory, "absent.sock")
        with pytest.raises(grpc.aio.AioRpcError, match="failed to dial device plugin"):
            await plugin.register()
        await plugin.server.stop(None)


async def test_a_kubelet_that_starts_again_removes_every_socket_and_is_there_anew() -> None:
    async with running() as station:
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
