"""Getting a pod's devices from the plugins, container by container.

Stands for the half of the kubelet's device manager that talks: GetPreferredAllocation, then Allocate, with no time
limit. What was given is on disk before the pod starts.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol

from gpuyard.writes import JSON
from gpuyard_cluster.kubelet import checkpoint
from gpuyard_cluster.kubelet.checkpoint import Disk
from gpuyard_cluster.kubelet.device_manager import (
    AllocationError,
    Choice,
    Devices,
    Holding,
    Request,
    choose,
    next_request,
    open_choice,
)
from gpuyard_device_plugin.kubelet_api.deviceplugin_v1beta1_pb2 import (
    AllocateRequest,
    AllocateResponse,
    ContainerAllocateRequest,
    ContainerPreferredAllocationRequest,
    Device,
    DevicePluginOptions,
    PreferredAllocationRequest,
    PreferredAllocationResponse,
    PreStartContainerRequest,
)


class PluginError(Exception):
    """A plugin refused or could not be reached. `str()` is in gRPC's words: "rpc error: code = X desc = ..."."""

    def __init__(self, code: str, details: str) -> None:
        super().__init__(f"rpc error: code = {code} desc = {details}")


class PluginClient(Protocol):
    """The way to a device plugin that has registered. Each call may raise PluginError."""

    async def options(self) -> DevicePluginOptions:
        """GetDevicePluginOptions."""

    async def preferred(self, request: PreferredAllocationRequest) -> PreferredAllocationResponse:
        """GetPreferredAllocation."""

    async def allocate(self, request: AllocateRequest) -> AllocateResponse:
        """Allocate."""

    async def pre_start(self, request: PreStartContainerRequest) -> None:
        """PreStartContainer."""


@dataclass(frozen=True, slots=True)
class _Plugin:
    client: PluginClient
    prefers: bool
    pre_starts: bool


class DeviceAllocator:
    """The devices of one node, and the plugins behind them."""

    def __init__(self, disk: Disk, random: Random, report: Callable[[str], None]) -> None:
        self._disk, self._random = disk, random
        self._plugins: dict[str, _Plugin] = {}
        self._stopped = False
        try:
            self.state = checkpoint.read_devices(disk)
        except checkpoint.UnusableCheckpointError as error:
            report(f"device checkpoint ignored: {error}")
            self.state = Devices({}, frozenset(), ())

    async def register(self, resource: str, client: PluginClient) -> None:
        """A plugin serves `resource` from now on. PluginError when it does not answer."""
        options = await client.options()
        self._plugins[resource] = _Plugin(
            client, options.get_preferred_allocation_available, options.pre_start_required
        )
        if resource not in self.state.lists:
            self._keep(self.state.with_list(resource, {}))

    def listed(self, resource: str, devices: Iterable[Device]) -> None:
        """A plugin's newest list."""
        self._keep(self.state.with_list(resource, {found.ID: found.health == "Healthy" for found in devices}))

    def plugin_gone(self, resource: str) -> None:
        """Its devices count as unhealthy from now on."""
        self._plugins.pop(resource, None)
        self.state = self.state.disconnected(resource)

    def forget(self, resource: str) -> None:
        """A plugin has been gone for so long that its devices count as removed."""
        self._keep(self.state.with_list(resource, {}).disconnected(resource))

    def release(self, alive: Iterable[str]) -> bool:
        """Free what pods of other UIDs than these hold; whether that was anything."""
        kept = self.state.kept_by(alive)
        freed = len(kept.holdings) < len(self.state.holdings)
        if freed:
            self._keep(kept)
        return freed

    async def allocate(self, pod: JSON) -> None:
        """Get every container of the pod its devices; again is harmless. AllocationError: it cannot be."""
        while (request := next_request(pod, self.state)) is not None:
            await self._allocate(request)

    def has_to_ask(self, uid: str) -> bool:
        """Whether a plugin wants to be asked before the pod's containers start."""
        found = (self._plugins.get(held.resource) for held in self.state.of_pod(uid))
        return any(plugin is not None and plugin.pre_starts for plugin in found)

    async def pre_start(self, uid: str) -> None:
        """Ask those plugins. PluginError: the containers must not start yet."""
        for held in self.state.of_pod(uid):
            plugin = self._plugins.get(held.resource)
            if plugin is None:
                raise PluginError("Unavailable", f"no plugin is connected for {held.resource}")
            if plugin.pre_starts:
                await plugin.client.pre_start(PreStartContainerRequest(devices_ids=held.ids))

    def stop(self) -> None:
        """Whatever a plugin answers from now on reaches nobody."""
        self._stopped = True

    async def _allocate(self, request: Request) -> None:
        choice = open_choice(request, self.state, self._random)
        plugin = self._plugins.get(request.resource)
        if plugin is None:
            raise AllocationError(f"no plugin is connected for {request.resource}")
        try:
            ids = choose(choice, await self._preferred(plugin, choice, request), self._random)
            message = AllocateRequest(container_requests=[ContainerAllocateRequest(devices_ids=ids)])
            answers = (await plugin.client.allocate(message)).container_responses
        except PluginError as error:
            raise AllocationError(str(error)) from error
        if self._stopped:
            raise AllocationError("the kubelet has stopped")
        if not answers:
            raise AllocationError("no containers in return of allocate")
        envs = dict(answers[0].envs)
        held = Holding(request.pod, request.container, request.resource, ids, envs)
        self._keep(self.state.holding(held))

    async def _preferred(self, plugin: _Plugin, choice: Choice, request: Request) -> Sequence[str]:
        if not plugin.prefers or not choice.missing:
            return ()
        wanted = ContainerPreferredAllocationRequest(
            available_deviceIDs=[*choice.available, *choice.certain],
            must_include_deviceIDs=choice.certain,
            allocation_size=request.count,
        )
        answer = await plugin.client.preferred(PreferredAllocationRequest(container_requests=[wanted]))
        return answer.container_responses[0].deviceIDs if answer.container_responses else ()

    def _keep(self, state: Devices) -> None:
        self.state = state
        checkpoint.write_devices(self._disk, state)
