"""One resource of the plugin on its own unix socket.

Stands for NVIDIA's internal/plugin/server.go. The socket is bound under a temporary name and renamed: binding to a
name that is in use would steal it in silence, and the loser's end would then delete the winner's socket.
"""

import asyncio
import contextlib
import os
from pathlib import Path
from typing import Any, Final

import grpc

from gpuyard_device_plugin import files
from gpuyard_device_plugin.kubelet_api import deviceplugin_v1beta1_pb2 as kubelet
from gpuyard_device_plugin.kubelet_api import deviceplugin_v1beta1_pb2_grpc as kubelet_grpc
from gpuyard_device_plugin.service import AllocationRefusedError, DevicePlugin, NotReadyError

_LONGEST_PATH: Final = 107
"""Bytes of a unix socket's path (sun_path in Linux' unix(7), without its final zero)."""
_STOP_SECONDS: Final = 1.0

_CODES: Final = {
    "FailedPrecondition": grpc.StatusCode.FAILED_PRECONDITION,
    "InvalidArgument": grpc.StatusCode.INVALID_ARGUMENT,
}


class SocketPathError(Exception):
    """No socket can be made in the folder: the message names folder and remedy."""


class ResourceServer:
    """Serves `resource` of the plugin in `folder`; start and stop may be called again and again."""

    def __init__(self, plugin: DevicePlugin, resource: str, folder: Path) -> None:
        self.resource = resource
        # NVIDIA's pattern, but not its prefix: two plugins on one node must not share a name.
        self.endpoint = f"gpuyard-{resource.rpartition('/')[2]}.sock"
        self._path = folder / self.endpoint
        self._servicer = _Servicer(plugin, resource)
        self._server: Any = None
        self._ending: asyncio.Future[None] | None = None
        self._bound: files.FileIdentity | None = None
        self._has_served = False

    @property
    def streams(self) -> int:
        """How many ListAndWatch calls are open."""
        return self._servicer.streams

    @property
    def is_bound(self) -> bool:
        """Whether the socket file is there and still ours; a kubelet deletes all of them when it starts."""
        return self._bound is not None and files.identity(self._path) == self._bound

    @property
    def is_displaced(self) -> bool:
        """Whether another plugin serves under this name since this one did: the newest wins, or they would fight."""
        return self._has_served and not self.is_bound and files.is_listening(self._path)

    async def start(self) -> None:
        """Serve. A kubelet that starts meanwhile may delete the socket: it is not bound then, and to be tried anew.

        SocketPathError when the folder's name is too long, or nothing can be written to it.
        """
        temporary = self._path.with_name(f".{self.endpoint}.{os.getpid()}")
        if len(os.fsencode(temporary)) > _LONGEST_PATH:
            raise SocketPathError(f"{temporary}: longer than {_LONGEST_PATH} bytes; use a shorter folder")
        if not os.access(self._path.parent, os.W_OK | os.X_OK):
            folder = self._path.parent
            raise SocketPathError(
                f"{folder}: not a folder to write to; use the kubelet's folder device-plugins"
            )
        temporary.unlink(missing_ok=True)
        server = grpc.aio.server()
        kubelet_grpc.add_DevicePluginServicer_to_server(self._servicer, server)
        server.add_insecure_port(f"unix://{temporary.absolute()}")
        starting = asyncio.ensure_future(server.start())
        try:
            # gRPC can stop a server before its start or after it, not in the middle: a cancelled start goes on.
            await asyncio.shield(starting)
            with contextlib.suppress(FileNotFoundError):
                temporary.rename(self._path)
                self._bound = files.identity(self._path)
                self._has_served = True
        finally:
            await asyncio.gather(starting, return_exceptions=True)
            if starting.exception() is None:
                self._server = server
            temporary.unlink(missing_ok=True)

    def end_streams(self) -> None:
        """End every ListAndWatch: a server that stops would wait for them."""
        self._servicer.end_streams()

    async def stop(self) -> None:
        """Serve no more, and remove the socket if it is still ours."""
        self._servicer.end_streams()
        if self.is_bound:
            self._path.unlink(missing_ok=True)
        self._bound = None
        if self._server is not None:
            self._ending = asyncio.ensure_future(self._server.stop(_STOP_SECONDS))
            self._server = None
        if self._ending is not None:
            # grpcio waits by `asyncio.wait_for`, which up to Python 3.11 may swallow a cancellation (cpython#86296).
            await asyncio.shield(self._ending)
            self._ending = None


def clear(folder: Path) -> None:
    """Remove the sockets that plugins of this kind left behind when they were killed."""
    for path in folder.glob("*gpuyard-*.sock*"):
        if not files.is_listening(path):
            with contextlib.suppress(OSError):  # where nothing can be written, `start` says so
                path.unlink()


class _Servicer(kubelet_grpc.DevicePluginServicer):
    """The verbs in gRPC's clothes."""

    def __init__(self, plugin: DevicePlugin, resource: str) -> None:
        self._plugin, self._resource = plugin, resource
        self._generation = 0
        self.streams = 0

    def end_streams(self) -> None:
        self._generation += 1
        self._plugin.changed.fire()

    async def GetDevicePluginOptions(  # noqa: N802
        self, request: kubelet.Empty, context: Any
    ) -> kubelet.DevicePluginOptions:
        return self._plugin.options()

    async def ListAndWatch(self, request: kubelet.Empty, context: Any) -> None:  # noqa: N802
        generation, sent = self._generation, None
        self.streams += 1
        try:
            while generation == self._generation:
                devices = self._plugin.devices(self._resource)
                if devices == sent:
                    await self._plugin.changed.wait()
                else:
                    sent = devices
                    await context.write(kubelet.ListAndWatchResponse(devices=devices))
        finally:
            self.streams -= 1

    async def GetPreferredAllocation(  # noqa: N802
        self, request: kubelet.PreferredAllocationRequest, context: Any
    ) -> kubelet.PreferredAllocationResponse:
        return await self._plugin.preferred(self._resource, request)

    async def Allocate(  # noqa: N802
        self, request: kubelet.AllocateRequest, context: Any
    ) -> kubelet.AllocateResponse:
        try:
            return await self._plugin.allocate(self._resource, request)
        except AllocationRefusedError as refused:
            await context.abort(_CODES[refused.refusal.reason.code], str(refused))
            raise

    async def PreStartContainer(  # noqa: N802
        self, request: kubelet.PreStartContainerRequest, context: Any
    ) -> kubelet.PreStartContainerResponse:
        try:
            await self._plugin.pre_start(request)
        except NotReadyError as error:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))
        return kubelet.PreStartContainerResponse()
