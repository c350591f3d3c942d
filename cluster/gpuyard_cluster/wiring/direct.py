"""One part calling another without a network: what the protocols carry on `embedded` is a plain call on `steps`."""

from typing import Any

from gpuyard.groups.plans import PlanAnswer, PlanRequest, Unready
from gpuyard.writes import JSON
from gpuyard_cluster.kubelet.allocation import PluginError
from gpuyard_cluster.kubelet.service import Kubelet
from gpuyard_cluster.scheduler.extenders import ExtenderError
from gpuyard_device_plugin.kubelet_api import deviceplugin_v1beta1_pb2 as deviceplugin
from gpuyard_device_plugin.kubelet_api import podresources_v1_pb2 as podresources
from gpuyard_device_plugin.ports import PodResourcesError
from gpuyard_device_plugin.service import AllocationRefusedError, DevicePlugin, NotReadyError
from gpuyard_extender.service import Extender
from gpuyard_kube.runtime import Runtime, Signal

HTTP_TIMEOUT_SECONDS = 5.0
"""How long the scheduler waits for the extender."""


class DirectExtender:
    """The extender, to the scheduler and to the operator."""

    def __init__(self, clock: Runtime) -> None:
        self._clock = clock
        self._extender: Extender | None = None
        self._runtime = clock
        self._calls: set[Signal] = set()

    @property
    def living(self) -> Extender:
        """The extender that lives now. ExtenderError when none does."""
        if self._extender is None:
            raise ExtenderError("dial tcp: connection refused")
        return self._extender

    def lives(self, extender: Extender, runtime: Runtime) -> None:
        """From now on this one answers, and its work is done on `runtime`; calls of the one before break off."""
        self._extender, self._runtime = extender, runtime
        for call in self._calls:
            call.fire()

    async def filter(self, args: JSON) -> JSON:
        return self.living.filter(args)

    async def prioritize(self, args: JSON) -> list[Any]:
        return self.living.prioritize(args)

    async def preempt(self, args: JSON) -> JSON:
        return self.living.preempt(args)

    async def bind(self, args: JSON) -> JSON:
        """Bind is the verb that waits, so that its extender can die, or stay silent, in the middle."""
        extender, answers, done = self.living, list[JSON](), self._clock.signal()

        async def work() -> None:
            try:
                answers.append(await extender.bind(args))
            finally:
                done.fire()

        self._runtime.spawn(work(), "extender bind")
        self._calls.add(done)
        in_time = await done.wait(self._clock.now() + HTTP_TIMEOUT_SECONDS)
        self._calls.discard(done)
        if not answers:
            raise ExtenderError("EOF" if in_time else "context deadline exceeded")
        return answers[0]

    async def plan(self, request: PlanRequest) -> PlanAnswer:
        return self._extender.plan(request) if self._extender else Unready("the extender does not run")


class DirectPodResources:
    """The kubelet's pod-resources API, to the plugin of its node."""

    def __init__(self) -> None:
        self.kubelet: Kubelet | None = None

    async def list(self) -> podresources.ListPodResourcesResponse:
        if self.kubelet is None:
            raise PodResourcesError("the kubelet does not run")
        return self.kubelet.pod_resources()

    async def get(self, namespace: str, name: str) -> podresources.PodResources | None:
        listed = (await self.list()).pod_resources
        return next((pod for pod in listed if (pod.namespace, pod.name) == (namespace, name)), None)


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

    async def pre_start(self, request: deviceplugin.PreStartContainerRequest) -> None:
        try:
            await self._plugin.pre_start(request)
        except NotReadyError as error:
            raise PluginError("FailedPrecondition", str(error)) from error


def connect(kubelet: Kubelet, plugin: DevicePlugin, runtime: Runtime) -> None:
    """Register the plugin with the kubelet and keep its lists up to date, for as long as `runtime` lives."""
    runtime.spawn(_registration(kubelet, plugin), f"plugin {plugin.node} registers")


async def _registration(kubelet: Kubelet, plugin: DevicePlugin) -> None:
    known: dict[str, deviceplugin.DevicePluginOptions] = {}
    told: dict[str, list[deviceplugin.Device]] = {}
    while True:
        for resource in plugin.resources:
            if known.get(resource) != plugin.options():
                known[resource] = plugin.options()
                await kubelet.plugin_registered(resource, DirectPlugin(plugin, resource))
            if told.get(resource) != (devices := plugin.devices(resource)):
                told[resource] = devices
                kubelet.devices(resource, devices)
        for resource in known.keys() - set(plugin.resources):
            del known[resource], told[resource]
            kubelet.plugin_gone(resource)
        await plugin.changed.wait()
