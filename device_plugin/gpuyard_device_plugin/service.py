"""The device plugin of one node: events in, the kubelet's verbs answered, the node object kept up to date.

Stands for NVIDIA's k8s-device-plugin together with gpu-feature-discovery. Law: it decides nothing itself, it puts the
pure modules of this package together; it keeps nothing that it could not find out again; all waiting goes through its
ports, so that the same object runs single-stepped and on asyncio.
"""

from collections.abc import Iterable, Mapping

from gpuyard import vocabulary
from gpuyard.auditing.accounts import NodeAccounts
from gpuyard.hardware.inventory import Inventory, MigStrategy
from gpuyard.narration import Beat
from gpuyard.writes import JSON
from gpuyard_device_plugin.allocating import accounting, wire
from gpuyard_device_plugin.allocating.accounting import Holder
from gpuyard_device_plugin.allocating.admissions import Admissions
from gpuyard_device_plugin.allocating.allocations import AllocationRefusedError
from gpuyard_device_plugin.devices import health, node_inventory
from gpuyard_device_plugin.devices.advertised import Advertised
from gpuyard_device_plugin.devices.mig_driver import MigDriver
from gpuyard_device_plugin.devices.on_demand import NotReadyError
from gpuyard_device_plugin.kubelet_api import deviceplugin_v1beta1_pb2 as kubelet
from gpuyard_device_plugin.ports import PluginSpec, Ports
from gpuyard_device_plugin.publishing.publication import Publication

__all__ = ["AllocationRefusedError", "DevicePlugin", "NotReadyError", "PluginSpec", "Ports"]


class DevicePlugin:
    """One node's plugin. InvalidConfigError when the GPUs and the configuration contradict each other."""

    def __init__(self, spec: PluginSpec, ports: Ports, xids: health.Policy = health.NVIDIAS) -> None:
        self._spec, self._ports, self._driver = spec, ports, health.Driver(xids)
        self._advertised = Advertised(node_inventory.build(spec.gpus, spec.config))
        self._table = self._advertised.table(())
        self._mig = MigDriver(ports.runtime, self._refresh)
        self._problem = ""
        self._admissions = Admissions(spec, ports, lambda: self._table)
        self.tally = self._admissions.tally
        self._publication = Publication(
            spec.node, ports.api, ports.runtime, lambda: (self._table.inventory, self._problem)
        )
        self.changed = ports.runtime.signal()
        """Fires when `devices` has changed."""
        for line in spec.config.ignored:
            self._tell(line)

    @property
    def node(self) -> str:
        return self._spec.node

    @property
    def resources(self) -> tuple[str, ...]:
        """Every resource to register, sorted; also one of which the devices are no more, until they are forgotten."""
        lost = {resource for resource, _ in self._advertised.vanished}
        return tuple(sorted({*self._table.resources, *lost}))

    @property
    def _cuts_on_demand(self) -> bool:
        return self._table.inventory.mig_strategy is MigStrategy.DYNAMIC

    def devices(self, resource: str) -> list[kubelet.Device]:
        """The list for ListAndWatch."""
        return wire.device_list(self._table, resource, self._advertised.lost(resource))

    def options(self) -> kubelet.DevicePluginOptions:
        return kubelet.DevicePluginOptions(
            pre_start_required=self._cuts_on_demand, get_preferred_allocation_available=self._spec.prefer
        )

    def replace(self, resource: str, objects: Iterable[JSON]) -> None:
        """All pods or nodes as of now; others than this node's are left out."""
        if resource == "pods":
            self._admissions.replace(objects)
            self._mig.pods_are_known()
            self._look_again()
        elif resource == "nodes":
            self._see_node(next((node for node in objects if _name(node) == self.node), None))

    def observe(self, resource: str, event: str, obj: JSON) -> None:
        """One change of a pod or node."""
        if resource == "pods":
            self._admissions.observe(event, obj)
            self._look_again()
        elif resource == "nodes" and _name(obj) == self.node:
            self._see_node(None if event == "DELETED" else obj)

    @property
    def seen(self) -> JSON | None:
        """The Node object as last heard of."""
        return self._publication.seen

    @property
    def inventory(self) -> Inventory:
        """The GPUs as they are advertised now."""
        return self._table.inventory

    @property
    def spec(self) -> PluginSpec:
        """What it is now."""
        return self._spec

    @property
    def xids(self) -> Mapping[int, int]:
        """The XIDs that were told of, by GPU index."""
        return self._driver.xids(gpu.index for gpu in self.inventory.gpus)

    def reconfigure(self, spec: PluginSpec) -> None:
        """Be another plugin of the same node, under running pods.

        InvalidConfigError when the GPUs and the configuration contradict each other: then nothing has changed.
        """
        inventory = node_inventory.build(self._driver.seen(spec.gpus), spec.config)
        self._spec, self._problem = spec, ""
        self._admissions.reconfigure(spec)
        self._advertised = self._advertised.becomes(inventory, self._ports.runtime.now())
        for line in ("the configuration has changed", *spec.config.ignored):
            self._tell(line)
        self._refresh()
        self._ports.runtime.spawn(self._forget(), f"forget devices {self.node}")

    def report(self, problem: str) -> None:
        """Say on the node what is wrong with its configuration; the last good one stays in force."""
        self._problem = problem
        self._publish_if_due()

    async def publish(self) -> None:
        """Write inventory and labels on the node, until it bears them; at once when it does."""
        await self._publication.write()

    async def preferred(
        self, resource: str, request: kubelet.PreferredAllocationRequest
    ) -> kubelet.PreferredAllocationResponse:
        """Which devices the kubelet should take; it may take others."""
        chosen = [
            await self._admissions.prefer(wire.offer(resource, found)) for found in request.container_requests
        ]
        responses = [wire.preferred(ids) for ids in chosen]
        return kubelet.PreferredAllocationResponse(container_responses=responses)

    async def allocate(self, resource: str, request: kubelet.AllocateRequest) -> kubelet.AllocateResponse:
        """What the containers see of their devices, or AllocationRefusedError: then nothing has changed."""
        asked = [tuple(found.devices_ids) for found in request.container_requests]
        responses = [wire.allocated(grant) for grant in await self._admissions.allocate(resource, asked)]
        self._look_again()
        return kubelet.AllocateResponse(container_responses=responses)

    async def pre_start(self, request: kubelet.PreStartContainerRequest) -> None:
        """Wait until the devices are as a container is to find them. NotReadyError: not yet."""
        await self._mig.ready(lambda: self._table, request.devices_ids)

    def holders(self) -> dict[str, set[Holder]]:
        """The containers that hold each device."""
        return accounting.holders(self._admissions.state)

    async def accounts(self) -> NodeAccounts:
        """Who holds what, as this plugin and the kubelet have it."""
        return await accounting.accounts(self._admissions.state, self._ports.pod_resources)

    async def _forget(self) -> None:
        await self._ports.runtime.sleep_until(self._advertised.forget_at)
        self._look_again()

    def _look_again(self) -> None:
        """Pods have come and gone: what waited for that?"""
        known = self._table.by_id.keys() >= self._admissions.held().keys()
        if self._advertised.vanished or self._cuts_on_demand or not known:
            self._refresh()

    def _refresh(self) -> None:
        held = self._admissions.held()
        self._advertised = self._advertised.kept(held, self._ports.runtime.now())
        self._table = self._mig.follow(self._advertised.table(held), held)
        self.changed.fire()
        self._publish_if_due()

    def _see_node(self, node: JSON | None) -> None:
        self._publication.seen = node
        problems, before = self._driver.hear(node, self._spec.gpus), self._advertised
        self._advertised = before.as_seen(self._driver.seen(self._spec.gpus))
        for line in (*problems, *health.news(before.inventory.gpus, self._advertised.inventory.gpus)):
            self._tell(line)
        adopted = node is not None and self._mig.adopt(node)
        if adopted or self._advertised != before:
            self._refresh()
        self._publish_if_due()

    def _tell(self, text: str) -> None:
        self._ports.narrate(Beat(vocabulary.DEVICE_PLUGIN, f"{self.node}: {text}"))

    def _publish_if_due(self) -> None:
        if self._publication.is_due:
            self._ports.runtime.spawn(self.publish(), f"publish {self.node}")


def _name(obj: JSON) -> str:
    return str((obj.get("metadata") or {}).get("name", ""))
