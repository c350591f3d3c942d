"""The sockets of a device plugin in the folder that it shares with the kubelet and with other plugins."""

import asyncio
import os
import socket
from pathlib import Path
from typing import Any
from unittest.mock import patch

from gpuyard.hardware.inventory import MigStrategy
from gpuyard_device_plugin import files
from gpuyard_device_plugin.config.config import PluginConfig
from gpuyard_device_plugin.ports import PluginSpec
from gpuyard_device_plugin.server import ResourceServer
from gpuyard_device_plugin.shell import PluginShell
from tests.device_plugin.fakes import NODE, gpus
from tests.device_plugin.grpc_kubelet import DEADLINE_SECONDS
from tests.device_plugin.scenes import ENDPOINT, GPU, ended, scene, sockets, until


async def test_a_kubelet_that_deletes_sockets_while_one_is_made_gets_it_a_moment_later() -> None:
    rename, deleted = Path.rename, list[Path]()

    def late(path: Path, target: Path) -> Path:
        if not deleted:
            deleted.append(path)
            path.unlink()
        return rename(path, target)

    with patch.object(Path, "rename", late):
        async with scene() as found:
            await found.registered(1)
            assert deleted
            assert found.kubelet.folder.joinpath(ENDPOINT).exists()


async def test_a_lost_socket_is_made_anew() -> None:
    async with scene() as found:
        await found.registered(1)
        (found.kubelet.folder / ENDPOINT).unlink()
        await found.registered(2)


async def test_stopping_ends_the_streams_and_leaves_no_socket_behind() -> None:
    async with scene() as found:
        await found.registered(1)
        await found.stop()
        await found.kubelet.until(lambda: found.kubelet.ended == [GPU])
        assert sockets(found.kubelet.folder) == ["kubelet.sock"]


async def test_all_sockets_go_at_once_however_long_the_calls_of_each_take() -> None:
    """A kubelet waits five seconds before it kills the plugin; with dynamic MIG there are half a dozen sockets."""

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


async def test_a_socket_that_another_plugin_took_over_is_not_deleted() -> None:
    async with scene() as found:
        await found.registered(1)
        taken: Any = found.kubelet.folder / ENDPOINT
        found.task.cancel()
        taken.unlink()
        taken.touch()
        await found.stop()
        assert taken.exists()


async def test_a_newer_plugin_serves_alone_until_it_ends() -> None:
    """Two that took the name from each other again and again would make the kubelet's count come and go."""

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


async def test_what_killed_plugins_left_behind_is_cleared_and_nobody_elses() -> None:
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
