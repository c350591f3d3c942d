"""A node around the plugin under test: an API server that remembers, and a kubelet that admits pods one by one."""

import copy
import random
from collections.abc import Mapping, Sequence
from typing import Any

from gpuyard import vocabulary
from gpuyard.annotations import write_allocation
from gpuyard.hardware.gpus import GPU, gpu_uuid
from gpuyard.hardware.inventory import Sharing, SharingMode
from gpuyard.pods.amounts import ContainerKind, containers_of
from gpuyard.pods.requests import is_device_resource
from gpuyard.writes import JSON, Reply, Write
from gpuyard_device_plugin.config.config import PluginConfig
from gpuyard_device_plugin.kubelet_api import deviceplugin_v1beta1_pb2 as kubelet
from gpuyard_device_plugin.kubelet_api import podresources_v1_pb2 as podresources
from gpuyard_device_plugin.service import AllocationRefusedError, DevicePlugin

NODE = "node-1"
Ids = list[str]
Objects = list[JSON]

A100 = "NVIDIA-A100-SXM4-40GB"


def gpus(count: int = 8, **settings: Any) -> tuple[GPU, ...]:
    """GPUs in two halves: each its own NUMA node and PCIe switch."""
    half = max(1, count // 2)
    return tuple(
        GPU(i, gpu_uuid(NODE, i), A100, 40960, i // half, i // half, **settings) for i in range(count)
    )


def sliced(
    replicas: int, mode: SharingMode = SharingMode.TIME_SLICING, *, alone: bool = False
) -> PluginConfig:
    return PluginConfig(sharing=Sharing(mode, replicas), fail_requests_greater_than_one=alone)


def pod(
    name: str,
    counts: Mapping[str, int] | None = None,
    plan: Mapping[str, Sequence[str]] | None = None,
    *,
    init: Mapping[str, int] | None = None,
    uid: str = "",
    resource: str = vocabulary.GPU,
) -> JSON:
    """A pod bound to the node: `counts` devices by app container, `init` by init container, `plan` ids."""

    def containers(wants: Mapping[str, int]) -> list[JSON]:
        return [
            {"name": c, "resources": {"limits": {resource: str(n)} if n else {}}} for c, n in wants.items()
        ]

    held = {container: {resource: tuple(ids)} for container, ids in (plan or {}).items()}
    notes = {vocabulary.ALLOCATION: write_allocation(held)} if plan is not None else {}
    return {
        "metadata": {"name": name, "namespace": "default", "uid": uid or f"uid-{name}", "annotations": notes},
        "spec": {
            "nodeName": NODE,
            "initContainers": containers(init or {}),
            "containers": containers({"train": 1} if counts is None else counts),
        },
        "status": {"phase": "Pending"},
    }


def report(plugin: DevicePlugin, *sick: int) -> None:
    """The driver says of just these GPUs that they have fallen off the bus."""
    notes = {f"{vocabulary.XID_PREFIX}{index}": "79" for index in sick}
    plugin.observe("nodes", "MODIFIED", {"metadata": {"name": NODE, "annotations": notes}})


class MemoryApi:
    """An API server that holds objects by path. The next `failures` writes are answered 500."""

    def __init__(self, *objects: JSON) -> None:
        self.objects: dict[str, JSON] = {}
        self.writes: list[Write] = []
        self.reads: list[str] = []
        self.failures = 0
        for obj in objects:
            self.put(obj)

    def put(self, obj: JSON) -> None:
        self.objects[path_of(obj)] = copy.deepcopy(obj)

    def remove(self, obj: JSON) -> None:
        del self.objects[path_of(obj)]

    async def read(self, path: str, **_query: str) -> Reply:
        self.reads.append(path)
        found = self.objects.get(path)
        return Reply(404, {}) if found is None else Reply(200, copy.deepcopy(found))

    async def send(self, write: Write) -> Reply:
        if self.failures:
            self.failures -= 1
            return Reply(500, {"message": "injected"})
        if write.path not in self.objects:
            return Reply(404, {})
        self.writes.append(write)
        assert isinstance(write.body, dict)
        merge(self.objects[write.path], write.body)
        return Reply(200, copy.deepcopy(self.objects[write.path]))


class TinyKubelet:
    """The kubelet's device manager as far as the plugin sees it: random order, no look at plans."""

    def __init__(self, plugin: DevicePlugin | None = None, seed: int = 0) -> None:
        self.plugin = plugin
        self.random = random.Random(seed)
        self.listed: Objects = []
        self.held: dict[tuple[str, str, str], Ids] = {}
        self.forgotten: set[str] = set()
        """Ids that it offers although a live pod holds them: a race that real kubelets have."""
        self.seen: dict[str, dict[str, str]] = {}
        """container -> its environment, of the pod admitted last."""

    async def list(self) -> podresources.ListPodResourcesResponse:
        return podresources.ListPodResourcesResponse(pod_resources=[self._resources(p) for p in self.listed])

    async def get(self, namespace: str, name: str) -> podresources.PodResources | None:
        listed = map(self._resources, self.listed)
        return next((pod for pod in listed if (pod.namespace, pod.name) == (namespace, name)), None)

    async def admit(self, obj: JSON) -> None:
        """Serve the containers; AllocationRefusedError fails the pod, which then holds nothing."""
        self.listed.append(obj)
        self.seen = {}
        try:
            for kind, container in containers_of(obj):
                for resource, amount in sorted(container["resources"].get("limits", {}).items()):
                    if is_device_resource(resource):
                        await self._serve(obj, kind, (container["name"], resource), int(amount))
        except AllocationRefusedError:
            self.release(obj)
            raise

    def release(self, obj: JSON) -> None:
        uid = obj["metadata"]["uid"]
        self.listed = [other for other in self.listed if other["metadata"]["uid"] != uid]
        self.held = {key: ids for key, ids in self.held.items() if key[0] != uid}

    def status(self, obj: JSON) -> JSON:
        """The pod as its status says after the admission."""
        uid = obj["metadata"]["uid"]
        found = [
            {"name": c["name"], "allocatedResourcesStatus": self._truth(uid, c["name"])}
            for c in obj["spec"]["containers"]
        ]
        return {**obj, "status": {"phase": "Running", "containerStatuses": found}}

    def ids(self, obj: JSON, container: str = "train", resource: str = vocabulary.GPU) -> Ids:
        return self.held[obj["metadata"]["uid"], container, resource]

    async def _serve(self, obj: JSON, kind: ContainerKind, want: tuple[str, str], count: int) -> None:
        assert self.plugin is not None
        uid, (container, resource) = obj["metadata"]["uid"], want
        chosen = [] if kind is ContainerKind.INIT else self._reusable(obj, resource)[:count]
        if len(chosen) < count:
            taken = {device for ids in self.held.values() for device in ids} - self.forgotten
            healthy = [d.ID for d in self.plugin.devices(resource) if d.health == "Healthy"]
            available = [device for device in healthy if device not in taken]
            assert len(available) + len(chosen) >= count, "the test admits more than there is"
            self.random.shuffle(available)
            available = [*await self._preferred(resource, available, chosen, count), *available]
            chosen = list(dict.fromkeys([*chosen, *available]))[:count]
        self.random.shuffle(chosen)
        request = kubelet.AllocateRequest(
            container_requests=[kubelet.ContainerAllocateRequest(devices_ids=chosen)]
        )
        response = await self.plugin.allocate(resource, request)
        self.held[uid, container, resource] = chosen
        self.seen[container] = dict(response.container_responses[0].envs)

    async def _preferred(self, resource: str, available: Ids, must: Ids, count: int) -> Ids:
        assert self.plugin is not None
        if not self.plugin.options().get_preferred_allocation_available:
            return []
        asked = kubelet.ContainerPreferredAllocationRequest(
            available_deviceIDs=available, must_include_deviceIDs=must, allocation_size=count
        )
        request = kubelet.PreferredAllocationRequest(container_requests=[asked])
        response = await self.plugin.preferred(resource, request)
        return list(response.container_responses[0].deviceIDs)

    def _reusable(self, obj: JSON, resource: str) -> Ids:
        uid, spec = obj["metadata"]["uid"], obj["spec"]
        used = {d for c in spec["containers"] for d in self.held.get((uid, c["name"], resource), ())}
        left = [d for c in spec["initContainers"] for d in self.held.get((uid, c["name"], resource), ())]
        return [device for device in dict.fromkeys(left) if device not in used]

    def _truth(self, uid: str, container: str) -> Objects:
        return [
            {"name": resource, "resources": [{"resourceID": d, "health": "Healthy"} for d in ids]}
            for (owner, name, resource), ids in self.held.items()
            if (owner, name) == (uid, container)
        ]

    def _resources(self, obj: JSON) -> podresources.PodResources:
        uid = obj["metadata"]["uid"]
        containers = [
            podresources.ContainerResources(
                name=c["name"],
                devices=[
                    podresources.ContainerDevices(resource_name=resource, device_ids=[device])
                    for (owner, name, resource), ids in self.held.items()
                    if (owner, name) == (uid, c["name"])
                    for device in ids
                ],
            )
            for c in obj["spec"]["containers"]
        ]
        name, namespace = obj["metadata"]["name"], obj["metadata"]["namespace"]
        return podresources.PodResources(name=name, namespace=namespace, containers=containers)


def path_of(obj: JSON) -> str:
    metadata = obj["metadata"]
    if "namespace" in metadata:
        return f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
    return f"/api/v1/nodes/{metadata['name']}"


def merge(target: JSON, patch: JSON) -> None:
    """RFC 7386, as far as the plugin uses it."""
    for key, value in patch.items():
        if value is None:
            target.pop(key, None)
        elif isinstance(value, dict):
            merge(target.setdefault(key, {}), value)
        else:
            target[key] = value
