"""Small values of the domain for tests, with defaults for what a test does not care about."""

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence

from gpuyard.groups.gangs import GangRejection, Member
from gpuyard.hardware import mig
from gpuyard.hardware.gpus import GPU, Instance, gpu_uuid, mig_uuid
from gpuyard.hardware.inventory import Inventory, MigStrategy, Sharing
from gpuyard.placing.cluster import Cluster, Node, Placement
from gpuyard.placing.placement import judge
from gpuyard.pods import requests
from gpuyard.pods.fit import NodeFit, PodFit
from gpuyard.pods.requests import PodRequest
from gpuyard.verdicts import Rejection
from gpuyard.writes import JSON

A100 = "NVIDIA-A100-SXM4-40GB"
GPU_RESOURCE = "nvidia.com/gpu"
SHARED = "nvidia.com/gpu.shared"
ONE_G = "nvidia.com/mig-1g.5gb"


def gpus(
    count: int = 8, *, node: str = "node-1", halves: bool = False, nvlink: bool = False, model: str = A100
) -> tuple[GPU, ...]:
    """`halves`: two NUMA nodes with one PCIe switch each; `nvlink`: one NVSwitch domain."""
    half = (count + 1) // 2
    places = [int(halves and index >= half) for index in range(count)]
    return tuple(
        GPU(i, gpu_uuid(node, i), model, 40960, place, place, 0 if nvlink else None)
        for i, place in enumerate(places)
    )


def split(gpu: GPU, *profiles: str) -> GPU:
    """The GPU in MIG mode with instances where `mig.place_all` puts them."""
    board = mig.board_of(gpu.model)
    assert board is not None
    slots = mig.place_all(board, profiles)
    assert not isinstance(slots, Rejection), slots.detail
    instances = [
        Instance(slot.profile, slot.start, slot.size, mig_uuid(gpu.uuid, mig.instance_id(board, *slot.span)))
        for slot in slots
    ]
    return dataclasses.replace(gpu, mig_enabled=True, instances=tuple(instances))


def sick(gpu: GPU) -> GPU:
    return dataclasses.replace(gpu, healthy=False)


def node(
    name: str = "node-1",
    having: Sequence[GPU] | None = None,
    *,
    sharing: Sharing = Sharing(),  # noqa: B008 -- frozen
    mig_strategy: MigStrategy = MigStrategy.MIXED,
    capacity: Mapping[str, str] | None = None,
) -> Node:
    """A node whose plugin has advertised the healthy devices of its GPUs (8 whole ones by default)."""
    found = gpus(node=name) if having is None else having
    inventory = Inventory(tuple(found), sharing, mig_strategy)
    return Node(name, node_fit(name, inventory, capacity), inventory)


def node_fit(name: str, inventory: Inventory, capacity: Mapping[str, str] | None = None) -> NodeFit:
    devices = Counter(device.resource for device in inventory.devices() if device.healthy)
    amounts = {"cpu": "64", "memory": "512Gi", "pods": "110"} | dict(capacity or {})
    allocatable = amounts | {resource: str(count) for resource, count in devices.items()}
    return NodeFit.of({"metadata": {"name": name}, "status": {"allocatable": allocatable}})


def cluster(*nodes: Node) -> Cluster:
    return Cluster({known.name: known for known in nodes})


def container(name: str, limits: Mapping[str, object] | None = None, **more: object) -> JSON:
    return {"name": name, "resources": {"limits": dict(limits or {})}, **more}


def pod(name: str = "pod", limits: Mapping[str, object] | None = None, **spec: object) -> JSON:
    """A pod with one container `train`, unless `spec` brings its own."""
    return {
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"},
        "spec": {"containers": [container("train", limits)], **spec},
    }


def request(of: JSON) -> PodRequest:
    parsed = requests.parse(of)
    assert isinstance(parsed, PodRequest), parsed
    return parsed


def member(of: JSON) -> Member:
    return Member(request(of), PodFit.of(of))


def judged(of: JSON, on: Node) -> Placement | Rejection:
    return judge(PodFit.of(of), request(of), on)


def where(found: tuple[Placement, ...] | GangRejection) -> list[str]:
    assert isinstance(found, tuple), found
    return [placement.node for placement in found]
