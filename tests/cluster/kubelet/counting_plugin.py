"""A device plugin for tests: prefers and allocates what it was told to, and remembers what it was asked."""

from collections.abc import Callable, Iterable, Sequence

from gpuyard_cluster.clock import Steps
from gpuyard_cluster.kubelet.allocation import PluginError
from gpuyard_device_plugin.kubelet_api.deviceplugin_v1beta1_pb2 import (
    AllocateRequest,
    AllocateResponse,
    ContainerAllocateResponse,
    ContainerPreferredAllocationRequest,
    ContainerPreferredAllocationResponse,
    Device,
    DevicePluginOptions,
    PreferredAllocationRequest,
    PreferredAllocationResponse,
    PreStartContainerRequest,
)


def listed(*ids: str, sick: Iterable[str] = ()) -> list[Device]:
    """A plugin's list: healthy devices, then sick ones."""
    healthy = [Device(ID=found, health="Healthy") for found in ids]
    return [*healthy, *(Device(ID=found, health="Unhealthy") for found in sick)]


class CountingPlugin:
    """In process. `prefer` gets one container's request; `error` refuses every Allocate."""

    def __init__(self, steps: Steps, prefer: Callable[..., Sequence[str]] | None = None) -> None:
        self._steps, self._prefer = steps, prefer
        self.seconds = 0.0
        self.error: PluginError | None = None
        self.allocated: list[list[str]] = []
        self.asked: list[ContainerPreferredAllocationRequest] = []
        self.pre_starts = False
        self.not_ready: PluginError | None = None
        self.prepared: list[list[str]] = []
        self.on_preferred: Callable[[], None] = lambda: None

    async def options(self) -> DevicePluginOptions:
        return DevicePluginOptions(
            get_preferred_allocation_available=self._prefer is not None, pre_start_required=self.pre_starts
        )

    async def preferred(self, request: PreferredAllocationRequest) -> PreferredAllocationResponse:
        wanted = request.container_requests[0]
        self.asked.append(wanted)
        self.on_preferred()
        assert self._prefer is not None
        answer = ContainerPreferredAllocationResponse(deviceIDs=self._prefer(wanted))
        return PreferredAllocationResponse(container_responses=[answer])

    async def allocate(self, request: AllocateRequest) -> AllocateResponse:
        await self._steps.sleep_until(self._steps.now() + self.seconds)
        if self.error is not None:
            raise self.error
        ids = list(request.container_requests[0].devices_ids)
        self.allocated.append(ids)
        envs = {"VISIBLE": ",".join(sorted(ids))}
        return AllocateResponse(container_responses=[ContainerAllocateResponse(envs=envs)])

    async def pre_start(self, request: PreStartContainerRequest) -> None:
        """`not_ready` refuses each."""
        if self.not_ready is not None:
            raise self.not_ready
        self.prepared.append(list(request.devices_ids))
