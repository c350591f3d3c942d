"""The plugin as the kubelet meets it: a socket for each resource, registered for as long as the process lives.

Stands for the start and watch loop of NVIDIA's cmd/nvidia-device-plugin. A kubelet never dials again by itself, so
the plugin registers anew when kubelet.sock is another file, when its own socket is gone (a kubelet that starts
deletes all of them), and when no ListAndWatch is left. A newer plugin of its kind is left alone until it ends.
"""

import asyncio
import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from gpuyard_device_plugin import dialing, files
from gpuyard_device_plugin.dialing import RegistrationError
from gpuyard_device_plugin.files import FileIdentity
from gpuyard_device_plugin.kubelet_api import deviceplugin_v1beta1_pb2 as kubelet
from gpuyard_device_plugin.server import ResourceServer, clear
from gpuyard_device_plugin.service import DevicePlugin

log = logging.getLogger("gpuyard.device_plugin")

POLL_SECONDS: Final = 0.5
"""How often the sockets are looked at; polling needs no package and works on every kind of mount."""


class PluginShell:
    """Serves all resources of a plugin in the kubelet's device plugin `folder`."""

    def __init__(
        self,
        plugin: DevicePlugin,
        folder: Path,
        *,
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        self._plugin, self._folder, self._poll_seconds = plugin, folder, poll_seconds
        self._servers: dict[str, ResourceServer] = {}
        self._registered: dict[str, tuple[FileIdentity, kubelet.DevicePluginOptions]] = {}
        """resource -> the kubelet.sock at which it is registered, and with which options."""
        self._awaited: set[str] = set()
        """Resources registered at the last look: the kubelet may still be about to open the stream."""
        self._problem = ""
        self._has_looked = False

    @property
    def kubelet_socket(self) -> Path:
        return self._folder / "kubelet.sock"

    @property
    def ready(self) -> bool:
        """Whether the kubelet watches every resource."""
        return self._has_looked and all(server.streams > 0 for server in self._servers.values())

    async def run(self) -> None:
        """Until cancelled; then the sockets are gone. SocketPathError when the folder's name is too long."""
        if not self._plugin.resources:
            log.warning("no devices found on %s: nothing to register", self._plugin.node)
        clear(self._folder)
        try:
            while True:
                await self._follow_resources()
                for server in self._servers.values():
                    await self._tend(server)
                self._has_looked = True
                await asyncio.sleep(self._poll_seconds)
        finally:
            self._has_looked = False
            await _stop(self._servers.values())

    async def _follow_resources(self) -> None:
        """Another configuration can have other resources."""
        wanted = self._plugin.resources
        for resource in wanted:
            if resource not in self._servers:
                self._servers[resource] = ResourceServer(self._plugin, resource, self._folder)
        unwanted = self._servers.keys() - set(wanted)
        for resource in unwanted:
            self._registered.pop(resource, None)
        await _stop([self._servers.pop(resource) for resource in unwanted])

    async def _tend(self, server: ResourceServer) -> None:
        if server.is_displaced:
            await server.stop()
            self._report(f"{server.resource} is served by a newer device plugin: waiting for its end")
            return
        if not server.is_bound:
            await server.stop()
            await server.start()
            self._registered.pop(server.resource, None)
        if not server.is_bound:
            return
        found = files.identity(self.kubelet_socket)
        if found is None:
            self._report(f"{self.kubelet_socket} is not there: waiting for the kubelet")
        elif self._was_told_otherwise(server, found):
            # Up to 1.36 the end of an older stream takes a newer one with it: it is to be seen before the next look.
            server.end_streams()
        elif not self._is_connected(server, found):
            await self._register(server, found)

    def _was_told_otherwise(self, server: ResourceServer, found: FileIdentity) -> bool:
        """Whether the kubelet follows a resource by options that count no longer: it asks for them only once."""
        known, options = self._registered.get(server.resource, (None, None))
        return server.streams > 0 and known == found and options != self._plugin.options()

    def _is_connected(self, server: ResourceServer, found: FileIdentity) -> bool:
        awaited = server.resource in self._awaited
        self._awaited.discard(server.resource)
        told = (found, self._plugin.options())
        return self._registered.get(server.resource) == told and (awaited or server.streams > 0)

    async def _register(self, server: ResourceServer, found: FileIdentity) -> None:
        # Up to 1.36 the end of an older stream takes the newer one with it (kubernetes#121994).
        server.end_streams()
        request = kubelet.RegisterRequest(
            version=dialing.API_VERSION,
            endpoint=server.endpoint,
            resource_name=server.resource,
            options=self._plugin.options(),
        )
        try:
            await dialing.register(self.kubelet_socket, request)
        except RegistrationError as error:
            self._report(f"{server.resource} is not registered: {error}")
            return
        self._problem = ""
        self._registered[server.resource] = (found, request.options)
        self._awaited.add(server.resource)
        self._plugin.tally.registrations[server.resource] += 1
        log.info("%s registered with %s", server.resource, self.kubelet_socket)

    def _report(self, problem: str) -> None:
        """Once, however long it lasts."""
        if problem != self._problem:
            log.warning("%s", problem)
            self._problem = problem


async def _stop(servers: Iterable[ResourceServer]) -> None:
    """All at once: each waits for its calls to end, and the kubelet gives all of them together five seconds."""
    await asyncio.gather(*(server.stop() for server in servers))
