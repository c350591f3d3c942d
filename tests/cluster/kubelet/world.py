"""A node with a kubelet on a stepped clock, and a plugin that counts."""

from typing import Any

from gpuyard.narration import Beat
from gpuyard.writes import JSON
from gpuyard_cluster.clock import Steps
from gpuyard_cluster.kubelet.disks import MemoryDisk
from gpuyard_cluster.kubelet.node_status import Machine
from gpuyard_cluster.kubelet.service import Kubelet
from tests.cluster.kubelet.counting_plugin import CountingPlugin, listed
from tests.cluster.small_api import SmallApi, pod
from tests.stepping import settle

GPU = "nvidia.com/gpu"
MACHINE = Machine("node-1", {"rack": "r1"}, {"cpu": "8", "memory": "32Gi", "pods": "5"})


class World:
    """A node with a kubelet, and a plugin with four devices."""

    def __init__(self, *, plugin: bool = True, prefers: bool = False) -> None:
        self.steps = Steps()
        self.api = SmallApi(self.steps)
        self.disk = MemoryDisk()
        self.beats: list[Beat] = []
        self.plugin = CountingPlugin(
            self.steps,
            (lambda wanted: sorted(wanted.available_deviceIDs)[: wanted.allocation_size])
            if prefers
            else None,
        )
        self.kubelet = self.new_kubelet()
        if plugin:
            self.register()
        settle(self.steps)

    def new_kubelet(self) -> Kubelet:
        made = Kubelet(MACHINE, self.api, self.steps, self.disk, seed=1, narrate=self.beats.append)
        made.start()
        self.api.attach(made)
        return made

    def restart(self, *, plugin: bool = True) -> None:
        self.api.detach(self.kubelet)
        self.kubelet.stop()
        self.kubelet = self.new_kubelet()
        if plugin:
            self.register()
        settle(self.steps)

    def register(self, *devices: str) -> None:
        self.steps.complete(self.kubelet.plugin_registered(GPU, self.plugin))
        self.kubelet.devices(GPU, listed(*(devices or ("d0", "d1", "d2", "d3"))))
        settle(self.steps)

    def run(self, name: str, gpus: int = 0, **spec: Any) -> JSON:
        limits = {GPU: str(gpus)} if gpus else {}
        self.api.put("pods", pod(name, limits, nodeName=spec.pop("nodeName", "node-1"), **spec))
        settle(self.steps)
        return self.api.pod(name)

    def later(self, seconds: float) -> None:
        settle(self.steps, self.steps.now() + seconds)

    def delete(self, name: str) -> None:
        deleted = self.api.pod(name)
        deleted["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:30Z"
        self.api.put("pods", deleted)
        settle(self.steps)

    def ids(self, name: str) -> list[str]:
        found = self.api.pod(name)["status"]["containerStatuses"][0].get("allocatedResourcesStatus", [])
        return [device["resourceID"] for held in found for device in held["resources"]]

    def amounts(self) -> tuple[Any, Any]:
        status = self.api.node("node-1")["status"]
        return status["capacity"].get(GPU), status["allocatable"].get(GPU)


def log(world: World, name: str, *, previous: bool = False) -> list[str]:
    return [line.text for line in world.kubelet.logs("default", name, "main", previous=previous)]


def told(world: World) -> list[str]:
    """The events about pods: `reason: text`."""
    return [
        f"{event['reason']}: {event['message']}"
        for event in world.api.events
        if "Pod" in event["involvedObject"]["kind"]
    ]
