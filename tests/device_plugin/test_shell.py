"""Plugin and kubelet over real gRPC on unix sockets: registered for as long as both live, whatever happens."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from gpuyard import vocabulary
from gpuyard.hardware.inventory import MigStrategy, Sharing, SharingMode
from gpuyard_device_plugin import advertised, files
from gpuyard_device_plugin.config import PluginConfig
from gpuyard_device_plugin.ports import PluginSpec, Ports
from gpuyard_device_plugin.server import ResourceServer
from gpuyard_device_plugin.service import DevicePlugin
from gpuyard_device_plugin.shell import PluginShell
from gpuyard_kube.runtime import AsyncioRuntime
from tests.device_plugin.fakes import NODE, MemoryApi, TinyKubelet, gpus, report
from tests.device_plugin.grpc_kubelet import DEADLINE_SECONDS, GrpcKubelet, short_folder

GPU = vocabulary.GPU
ENDPOINT = "gpuyard-gpu.sock"
RENAMED = PluginConfig(sharing=Sharing(SharingMode.TIME_SLICING, 4, renamed=True))


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


def test_it_registers_under_the_rules_of_the_api_and_sends_the_whole_list() -> None:
    async def story() -> None:
        async with scene() as found:
            await found.registered(1)
            request = found.kubelet.registrations[0]
            assert (request.version, request.endpoint, request.resource_name) == ("v1beta1", ENDPOINT, GPU)
            assert found.kubelet.options[GPU].get_preferred_allocation_available
            assert found.kubelet.lists[GPU] == [found.plugin.devices(GPU)]

    asyncio.run(story())


async def until(condition: Callable[[], bool]) -> None:
    """What a kubelet does not hear of."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not condition():
            await asyncio.sleep(0.01)


def test_it_is_ready_while_the_kubelet_watches_and_no_longer() -> None:
    async def story() -> None:
        async with scene(started=False) as found:
            await until((found.kubelet.folder / ENDPOINT).exists)
            assert not found.shell.ready
            await found.kubelet.start()
            await found.kubelet.until(lambda: found.shell.ready)
            await found.stop()
            assert not found.shell.ready

    asyncio.run(story())


def test_a_change_of_health_is_one_more_full_list() -> None:
    async def story() -> None:
        async with scene() as found:
            await found.registered(1)
            report(found.plugin, 1)
            await found.kubelet.until(lambda: len(found.kubelet.lists[GPU]) == 2)
            assert [device.health for device in found.kubelet.lists[GPU][1]] == ["Healthy", "Unhealthy"]
            assert len(found.kubelet.registrations) == 1

    asyncio.run(story())


def test_a_kubelet_that_deletes_sockets_while_one_is_made_gets_it_a_moment_later() -> None:
    rename, deleted = Path.rename, list[Path]()

    def late(path: Path, target: Path) -> Path:
        if not deleted:
            deleted.append(path)
            path.unlink()
        return rename(path, target)

    async def story() -> None:
        with patch.object(Path, "rename", late):
            async with scene() as found:
                await found.registered(1)
                assert deleted
                assert found.kubelet.folder.joinpath(ENDPOINT).exists()

    asyncio.run(story())


def test_it_waits_for_a_kubelet_that_is_not_there_yet() -> None:
    async def story() -> None:
        async with scene(started=False) as found:
            await found.kubelet.start()
            await found.registered(1)

    asyncio.run(story())


def test_it_tries_again_when_the_kubelet_refuses() -> None:
    async def story() -> None:
        async with scene(started=False) as found:
            found.kubelet.refuse = True
            await found.kubelet.start()
            await found.registered(1)
            assert not found.kubelet.refuse

    asyncio.run(story())


def test_a_kubelet_that_starts_anew_gets_the_same_devices_from_a_new_socket() -> None:
    async def story() -> None:
        async with scene() as found:
            await found.registered(1)
            await found.kubelet.stop()
            await found.kubelet.start()
            await found.registered(2)
            assert found.kubelet.lists[GPU][0] == found.kubelet.lists[GPU][-1]
            assert ENDPOINT in sockets(found.kubelet.folder)
            await found.kubelet.until(lambda: found.plugin.tally.registrations[GPU] == 2)

    asyncio.run(story())


def test_a_lost_socket_is_made_anew() -> None:
    async def story() -> None:
        async with scene() as found:
            await found.registered(1)
            (found.kubelet.folder / ENDPOINT).unlink()
            await found.registered(2)

    asyncio.run(story())


def test_a_stream_that_the_kubelet_ends_is_a_reason_to_register_again() -> None:
    async def story() -> None:
        async with scene() as found:
            await found.registered(1)
            await found.kubelet.hang_up(GPU)
            await found.registered(2)

    asyncio.run(story())


def test_stopping_ends_the_streams_and_leaves_no_socket_behind() -> None:
    async def story() -> None:
        async with scene() as found:
            await found.registered(1)
            await found.stop()
            await found.kubelet.until(lambda: found.kubelet.ended == [GPU])
            assert sockets(found.kubelet.folder) == ["kubelet.sock"]

    asyncio.run(story())


def test_all_sockets_go_at_once_however_long_the_calls_of_each_take() -> None:
    """A kubelet waits five seconds before it kills the plugin; with dynamic MIG there are half a dozen sockets."""

    async def story() -> None:
        async with scene() as found:
            await found.registered(1)
            config = PluginConfig(mig_strategy=MigStrategy.DYNAMIC)
            found.plugin.reconfigure(PluginSpec(NODE, gpus(2), config))
            await found.kubelet.until(lambda: len(found.kubelet.lists) == len(found.plugin.resources) > 5)
            stop, waiting = ResourceServer.stop, asyncio.Barrier(len(found.plugin.resources))

            async def slow(server: ResourceServer) -> None:
                await waiting.wait()
                await stop(server)

            with patch.object(ResourceServer, "stop", slow):
                async with asyncio.timeout(DEADLINE_SECONDS):
                    await found.stop()
            assert sockets(found.kubelet.folder) == ["kubelet.sock"]

    asyncio.run(story())


def test_another_configuration_brings_its_sockets_and_takes_those_of_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(advertised, "FORGET_SECONDS", 0.0)

    async def story() -> None:
        async with scene() as found:
            await found.registered(1)
            found.plugin.reconfigure(PluginSpec(NODE, gpus(2), RENAMED))
            await found.kubelet.until(lambda: bool(found.kubelet.lists.get(vocabulary.GPU_SHARED)))
            await found.kubelet.until(lambda: GPU in found.kubelet.ended)
            assert [device.ID for device in found.kubelet.lists[vocabulary.GPU_SHARED][-1]] == [
                f"{gpu.uuid}::{replica}" for gpu in gpus(2) for replica in range(4)
            ]
            await found.kubelet.until(lambda: ENDPOINT not in sockets(found.kubelet.folder))

    asyncio.run(story())


def test_a_kubelet_learns_that_it_is_to_ask_before_containers_start() -> None:
    """It reads the options when a plugin registers, and never again."""

    async def story() -> None:
        async with scene() as found:
            await found.registered(1)
            assert not found.kubelet.options[GPU].pre_start_required
            found.plugin.reconfigure(
                PluginSpec(NODE, gpus(2), PluginConfig(mig_strategy=MigStrategy.DYNAMIC))
            )
            await found.registered(2)
            await found.kubelet.until(lambda: found.kubelet.options[GPU].pre_start_required)

    asyncio.run(story())


def test_a_socket_that_another_plugin_took_over_is_not_deleted() -> None:
    async def story() -> None:
        async with scene() as found:
            await found.registered(1)
            taken: Any = found.kubelet.folder / ENDPOINT
            found.task.cancel()
            taken.unlink()
            taken.touch()
            await found.stop()
            assert taken.exists()

    asyncio.run(story())


def test_a_newer_plugin_serves_alone_until_it_ends() -> None:
    """Two that took the name from each other again and again would make the kubelet's count come and go."""

    async def story() -> None:
        async with scene() as found:
            await found.registered(1)
            newer = PluginShell(found.plugin, found.kubelet.folder, poll_seconds=0.01)
            task = asyncio.create_task(newer.run())
            await until(lambda: newer.ready and not found.shell.ready)
            registrations = len(found.kubelet.registrations)
            with patch.object(files, "is_listening", wraps=files.is_listening) as looks:
                await until(lambda: looks.call_count >= 5)
            assert (newer.ready, len(found.kubelet.registrations)) == (True, registrations)
            await ended(task)
            await until(lambda: found.shell.ready)

    asyncio.run(story())


def test_what_killed_plugins_left_behind_is_cleared_and_nobody_elses() -> None:
    async def story() -> None:
        async with scene() as found:
            await found.registered(1)
            folder = found.kubelet.folder
            for name in ("gpuyard-mig-1g.5gb.sock", ".gpuyard-gpu.sock.7", "nvidia-gpu.sock"):
                with socket.socket(socket.AF_UNIX) as dead:
                    dead.bind(os.fspath(folder / name))
            await found.stop()
            shell = PluginShell(found.plugin, folder, poll_seconds=0.01)
            task = asyncio.create_task(shell.run())
            await until(lambda: shell.ready)
            assert sockets(folder) == [ENDPOINT, "kubelet.sock", "nvidia-gpu.sock"]
            await ended(task)

    asyncio.run(story())
