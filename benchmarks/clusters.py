"""Clusters that are made up, as Kubernetes objects: nodes with whole GPUs, MIG instances and shares, and their pods.

Equal arguments give equal clusters. No device has two owners, and no node more than it has.
"""

import dataclasses
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

from gpuyard import annotations, vocabulary
from gpuyard.hardware import mig
from gpuyard.hardware.gpus import GPU, Instance, gpu_uuid, mig_uuid
from gpuyard.hardware.inventory import Device, Inventory, MigStrategy, Sharing, SharingMode
from gpuyard.verdicts import Rejection

JSON = dict[str, Any]

MODEL, MEMORY_MIB = "NVIDIA-A100-SXM4-40GB", 40960
SHARES = 4
PROFILES = ("1g.5gb", "1g.5gb", "2g.10gb", "3g.20gb")
SHAPES = (
    (vocabulary.GPU, 1),
    (vocabulary.GPU, 2),
    (vocabulary.GPU, 4),
    (vocabulary.GPU, 8),
    (vocabulary.GPU_SHARED, 1),
    (vocabulary.mig_resource("1g.5gb"), 1),
    (vocabulary.mig_resource("3g.20gb"), 1),
)
"""What the pods that wait ask for."""


MIXED, SHARED, PLAIN = 400, 200, 400

MADE_UP = {"example.com/made-up": "true"}
ONLY_THERE: JSON = {"nodeSelector": MADE_UP, "tolerations": [{"operator": "Exists"}]}
"""Of a pod: a real cluster has other nodes too, and no kubelet says that these are ready."""


class Cluster:
    """`nodes`, and `pods`: so many bound ones, then those that wait (`mixed`, `shares`, `plain`: without GPUs)."""

    def __init__(self, nodes: int, bound: int, seed: int = 7) -> None:
        self._random = random.Random(seed)
        self._pods = 0
        inventories = {f"node-{i:05d}": _inventory(f"node-{i:05d}", i) for i in range(nodes)}
        self.nodes = [_node(name, found) for name, found in inventories.items()]
        self.mixed = [self.pod(dict([self._random.choice(SHAPES)])) for _ in range(MIXED)]
        self.shares = [self.pod({vocabulary.GPU_SHARED: 1}) for _ in range(SHARED)]
        self.plain = [self.pod({}) for _ in range(PLAIN)]
        self.pods = [*self._bound(inventories, bound), *self.mixed, *self.shares, *self.plain]

    def pod(self, devices: dict[str, int]) -> JSON:
        """A pod that waits and asks for `devices` by resource."""
        self._pods += 1
        name = f"pod-{self._pods:06d}"
        cpu, memory = self._random.randint(1, 10) * 100, self._random.randint(1, 64) * 128
        amounts = {"cpu": f"{cpu}m", "memory": f"{memory}Mi"} | {key: str(n) for key, n in devices.items()}
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": "default",
                "uid": f"00000000-0000-4000-8000-{self._pods:012d}",
                "resourceVersion": str(self._pods),
            },
            "spec": {
                "containers": [
                    {
                        "name": "main",
                        "image": "busybox:1.36",
                        "resources": {"limits": amounts, "requests": amounts},
                    }
                ],
                "tolerations": [{"key": vocabulary.GPU, "operator": "Exists", "effect": "NoSchedule"}],
            },
            "status": {"phase": "Pending"},
        }

    def _bound(self, inventories: dict[str, Inventory], count: int) -> Iterator[JSON]:
        """Pods spread over all nodes: they fill the devices of each node up to a share that is drawn for it."""
        names = list(inventories)
        free = {name: self._offered(found) for name, found in inventories.items()}
        for i in range(count):
            name = names[i % len(names)]
            taken = [free[name].pop() for _ in range(min(len(free[name]), self._random.choice((1, 1, 2))))]
            yield self._on(name, taken)

    def _offered(self, inventory: Inventory) -> list[Device]:
        devices = list(inventory.devices())
        return devices[: self._random.randint(0, len(devices))]

    def _on(self, node: str, devices: list[Device]) -> JSON:
        pod = self.pod(dict(Counter(device.resource for device in devices)))
        held: dict[str, tuple[str, ...]] = {}
        for device in devices:
            held[device.resource] = (*held.get(device.resource, ()), device.id)
        pod["spec"]["nodeName"] = node
        pod["status"] = {"phase": "Running"}
        if held:
            pod["metadata"]["annotations"] = {
                vocabulary.ALLOCATION: annotations.write_allocation({"main": held})
            }
            truth = [
                {"name": resource, "resources": [{"resourceID": one, "health": "Healthy"} for one in ids]}
                for resource, ids in held.items()
            ]
            pod["status"]["containerStatuses"] = [{"name": "main", "allocatedResourcesStatus": truth}]
        return pod


def _inventory(node: str, number: int) -> Inventory:
    """Of ten nodes six have whole GPUs (half of these on NVSwitch), two MIG instances, two shares."""
    kind = number % 10
    gpus = tuple(
        GPU(i, gpu_uuid(node, i), MODEL, MEMORY_MIB, i // 4, i // 2, 0 if kind < 3 else None)
        for i in range(8)
    )
    if kind < 6:
        return Inventory(gpus)
    if kind < 8:
        return Inventory(tuple(map(_split, gpus)), mig_strategy=MigStrategy.MIXED)
    return Inventory(gpus, Sharing(SharingMode.TIME_SLICING, SHARES, renamed=True))


def _split(gpu: GPU) -> GPU:
    board = mig.board_of(gpu.model)
    assert board is not None
    slots = mig.place_all(board, PROFILES)
    assert not isinstance(slots, Rejection), slots.detail
    instances = tuple(
        Instance(slot.profile, slot.start, slot.size, mig_uuid(gpu.uuid, mig.instance_id(board, *slot.span)))
        for slot in slots
    )
    return dataclasses.replace(gpu, mig_enabled=True, instances=instances)


def _node(name: str, inventory: Inventory) -> JSON:
    devices = Counter(device.resource for device in inventory.devices())
    amounts = {"cpu": "512", "memory": "2Ti", "ephemeral-storage": "1Ti", "pods": "500"}
    amounts |= {resource: str(count) for resource, count in devices.items()}
    number = int(name[-5:]) + 1
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "uid": f"00000000-0000-4000-9000-{number:012d}",
            "resourceVersion": str(number),
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/arch": "amd64",
                "nvidia.com/gpu.product": MODEL,
                "topology.kubernetes.io/zone": f"zone-{number % 3}",
            },
            "annotations": {vocabulary.INVENTORY: annotations.write_inventory(inventory)},
        },
        "spec": {"taints": [{"key": vocabulary.GPU, "effect": "NoSchedule"}]},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def made_up(node: JSON, cpus: int) -> JSON:
    """One of `nodes` as it can be created in a real cluster, and told from the others there."""
    amounts = {**node["status"]["allocatable"], "cpu": str(cpus)}
    metadata = {key: node["metadata"][key] for key in ("name", "annotations")}
    return {
        "metadata": {**metadata, "labels": {**node["metadata"]["labels"], **MADE_UP}},
        "status": {**node["status"], "allocatable": amounts, "capacity": amounts},
    }
