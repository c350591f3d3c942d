"""What the device plugin measures, for Prometheus.

Stands for the metrics that NVIDIA's plugin does not have. Everything is read from the plugin when somebody asks.
"""

from collections import Counter
from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from gpuyard_device_plugin import dcgm
from gpuyard_device_plugin.service import DevicePlugin
from gpuyard_kube.metrics import CONTENT_TYPE, counted, exposed, registry
from gpuyard_kube.serving import Page

PREFIX = "gpuyard_device_plugin"


class Metrics(Collector):
    """The numbers of one node's plugin."""

    def __init__(self, plugin: DevicePlugin) -> None:
        self._plugin = plugin
        self._registry = registry()
        self._registry.register(self)

    async def page(self) -> Page:
        return Page(exposed(self._registry), CONTENT_TYPE)

    def collect(self) -> Iterator[Metric]:
        tally = self._plugin.tally
        yield counted(
            f"{PREFIX}_allocations", "Containers that came for devices.", "outcome", tally.allocations
        )
        yield counted(
            f"{PREFIX}_registrations",
            "Registrations with the kubelet; each restart of it takes one more.",
            "resource",
            tally.registrations,
        )
        yield self._devices()
        plugin = self._plugin
        yield from dcgm.metrics(plugin.node, plugin.inventory, plugin.holders(), plugin.xids)

    def _devices(self) -> GaugeMetricFamily:
        family = GaugeMetricFamily(
            f"{PREFIX}_devices", "Devices as the kubelet is told of them.", labels=["resource", "health"]
        )
        for resource in self._plugin.resources:
            states = Counter(device.health for device in self._plugin.devices(resource))
            for health, number in sorted(states.items()):
                family.add_metric([resource, health], number)
        return family
