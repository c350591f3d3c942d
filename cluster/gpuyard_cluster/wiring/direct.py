"""One part calling another without a network: what the protocols carry on `embedded` is a plain call on `steps`."""

from typing import Any

from gpuyard.plans import PlanAnswer, PlanRequest, Unready
from gpuyard.writes import JSON
from gpuyard_cluster.kubelet.allocation import PluginError
from gpuyard_cluster.kubelet.service import Kubelet
from gpuyard_cluster.scheduler.extenders import ExtenderError
from gpuyard_device_plugin.kubelet_api import deviceplugin_v1beta1_pb2 as deviceplugin
from gpuyard_device_plugin.kubelet_api import podresources_v1_pb2 as podresources
from gpuyard_device_plugin.service import AllocationRefusedError, DevicePlugin, PodResourcesError
from gpuyard_extender.service import Extender
from gpuyard_kube.runtime import Runtime


class DirectExtender:
    """The extender, to the scheduler and to the operator. `extender` is the one that lives now, if any does."""

    def __init__(self) -> None:
        self.extender: Extender | None = None

    async def filter(self, args: JSON) -> JSON:
        return self._living().filter(args)

    async def prioritize(self, args: JSON) -> list[Any]:
        return self._living().prioritize(args)

    async def bind(self, args: JSON) -> JSON:
        return await self._living().bind(args)

    async def plan(self, request: PlanRequest) -> PlanAnswer:
        if self.extender is None:
            return Unready("the extender does not run")
        return self.extender.plan(request)

    def _living(self) -> Extender:
        if self.extender is None:
            raise ExtenderError("dial tcp: connection refused")
        return self.extender


class DirectPodResources:
    """The kubelet's pod-resources API, to the plugin of its node."""

    def __init__(self) -> None:
        self.kubelet: Kubelet | None = None

    async def list(self) -> podresources.ListPodResourcesResponse:
        if self.kubelet is None:
            raise PodResourcesError("the kubelet does not run")
        return self.kubelet.pod_resources()


class DirectPlugin:
    """One resource of a plugin, to the kubelet of its node."""

    def __init__(self, plugin: DevicePlugin, resource: str) -> None:
        self._plugin, self._resource = plugin, resource

    async def options(self) -> deviceplugin.DevicePluginOptions:
        return self._plugin.options()

    async def preferred(
        self, request: deviceplugin.PreferredAllocationRequest
    ) -> deviceplugin.PreferredAllocationResponse:
        return await self._plugin.preferred(self._resource, request)

    async def allocate(self, request: deviceplugin.AllocateRequest) -> deviceplugin.AllocateResponse:
        try:
            return await self._plugin.allocate(self._resource, request)
        except AllocationRefusedError as refusal:
            raise PluginError(refusal.refusal.reason.code, str(refusal)) from refusal


def connect(kubelet: Kubelet, plugin: DevicePlugin, runtime: Runtime) -> None:
    """Register the plugin with the kubelet and keep its lists up to date, for as long as `runtime` lives."""
    runtime.spawn(_registration(kubelet, plugin), f"plugin {plugin.node} registers")


async def _registration(kubelet: Kubelet, plugin: DevicePlugin) -> None:
    for resource in plugin.resources:
        await kubelet.plugin_registered(resource, DirectPlugin(plugin, resource))
        kubelet.devices(resource, plugin.devices(resource))
    while True:
        await plugin.changed.wait()
        for resource in plugin.resources:
            kubelet.devices(resource, plugin.devices(resource))
