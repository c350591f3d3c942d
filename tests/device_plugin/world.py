"""A node with its plugin and its kubelet, single-stepped."""

from collections.abc import Coroutine
from typing import Any

from gpuyard.writes import JSON
from gpuyard_cluster.clock import Steps
from gpuyard_device_plugin.allocating.pod_devices import PodDevices
from gpuyard_device_plugin.ports import PluginSpec, Ports
from gpuyard_device_plugin.service import DevicePlugin
from tests.device_plugin.fakes import NODE, MemoryApi, TinyKubelet, gpus, report
from tests.stepping import settle


class World:
    """A node with its plugin and its kubelet on a clock that is stepped by hand."""

    def __init__(self, spec: PluginSpec | None = None) -> None:
        self.steps, self.api, self.kubelet = Steps(), MemoryApi({"metadata": {"name": NODE}}), TinyKubelet()
        self.spec = spec or PluginSpec(NODE, gpus())
        self.told: list[str] = []
        self.start()

    def start(self) -> None:
        """A plugin without any memory."""
        ports = Ports(self.api, self.steps, self.kubelet, lambda beat: self.told.append(beat.text))
        self.plugin = self.kubelet.plugin = DevicePlugin(self.spec, ports)

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.steps.complete(work)

    def admit(self, *pods: JSON) -> None:
        """Bind and admit the pods; their status tells what they got."""
        for obj in pods:
            self.api.put(obj)
            self.plugin.observe("pods", "ADDED", obj)
            self.run(self.kubelet.admit(obj))
            self.plugin.observe("pods", "MODIFIED", self.kubelet.status(obj))

    def report(self, *sick: int) -> None:
        """The driver says of just these GPUs that they have fallen off the bus."""
        report(self.plugin, *sick)
        self.settle()

    def settle(self) -> None:
        settle(self.steps)

    def indexes(self, obj: JSON, container: str = "train") -> list[int]:
        index = {gpu.uuid: gpu.index for gpu in self.spec.gpus}
        return sorted(index[found.partition("::")[0]] for found in self.kubelet.ids(obj, container))

    def ids(self, *indexes: int) -> list[str]:
        return [self.spec.gpus[index].uuid for index in indexes]

    def state(self) -> PodDevices:
        """What the plugin believes: for tests that nothing has changed."""
        return self.plugin._admissions._state
