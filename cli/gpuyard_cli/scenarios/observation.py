"""What can be seen of a cluster at one moment, in words that are the same on every backend.

Nodes go by their yard names. A device is written by its place: `0` is the GPU with index 0, `0:4` the MIG instance
on it that starts at memory slice 4, `0::` and `0:4::` shares of these (they are handles, each as good as another).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gpuyard import annotations, vocabulary
from gpuyard.hardware.inventory import Device
from gpuyard.pods.phases import has_ended
from gpuyard.pods.quantities import whole
from gpuyard.verdicts import SCHEDULED
from gpuyard.writes import JSON
from gpuyard_kube.conditions import condition


@dataclass(frozen=True, slots=True)
class PodSeen:
    """`judged` is whether the scheduler or a gate has said why the pod waits; it is not compared."""

    phase: str
    node: str = ""
    devices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    code: str = ""
    reasons: Mapping[str, str] = field(default_factory=dict)
    judged: bool = field(default=True, compare=False)


@dataclass(frozen=True, slots=True)
class GroupSeen:
    """The condition Scheduled of a PodGroup. Texts are not compared."""

    scheduled: str
    reason: str
    message: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Observation:
    pods: Mapping[str, PodSeen]
    groups: Mapping[str, GroupSeen]
    reservations: tuple[str, ...]
    allocatable: Mapping[str, Mapping[str, int]]
    free: Mapping[str, Mapping[str, int]]
    sees: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    links_down: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By node: the pairs of GPUs that its inventory says to have lost their NVLink, such as 0-1."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Raw objects of one moment. `pods` are those of all namespaces; the rest of the scenario's namespace.

    `explained` holds the extender's explanation for each pending pod of the namespace, by name; `logs` what its
    containers print, by pod/container.
    """

    nodes: tuple[JSON, ...]
    pods: tuple[JSON, ...]
    groups: tuple[JSON, ...]
    reservations: tuple[JSON, ...]
    explained: Mapping[str, JSON] = field(default_factory=dict)
    logs: Mapping[str, str] = field(default_factory=dict)


def observe(snapshot: Snapshot, namespace: str) -> Observation:
    """The observation that a snapshot makes."""
    yard = _Yard(snapshot.nodes)
    pods = [pod for pod in snapshot.pods if pod["metadata"]["namespace"] == namespace]
    allocatable = {yard.names[name]: counts for name, counts in yard.allocatable.items()}
    return Observation(
        pods={
            p["metadata"]["name"]: _pod(p, yard, snapshot.explained.get(p["metadata"]["name"])) for p in pods
        },
        groups={g["metadata"]["name"]: _group(g) for g in snapshot.groups},
        reservations=tuple(sorted(r["metadata"]["name"] for r in snapshot.reservations)),
        allocatable=allocatable,
        free=_free(allocatable, snapshot.pods, yard),
        sees={place: tuple(text.splitlines()) for place, text in snapshot.logs.items()},
        links_down={yard.names[name]: pairs for name, pairs in yard.links_down.items() if pairs},
    )


def held_devices(pod: JSON) -> dict[str, tuple[str, ...]]:
    """container -> device ids, from the pod's own status: the truth for app containers of live pods."""
    return {
        status["name"]: tuple(
            found["resourceID"]
            for resource in status["allocatedResourcesStatus"]
            for found in resource.get("resources") or ()
        )
        for status in (pod.get("status") or {}).get("containerStatuses") or ()
        if status.get("allocatedResourcesStatus")
    }


def offered(node: JSON) -> dict[str, int]:
    """What a node offers beside CPU and memory. A kubelet keeps naming a resource whose plugin has gone, with 0."""
    allocatable: Mapping[str, str] = (node.get("status") or {}).get("allocatable") or {}
    return {name: whole(count) for name, count in allocatable.items() if "/" in name and whole(count)}


def is_live(pod: JSON) -> bool:
    return not has_ended(pod)


def stays(pod: JSON) -> bool:
    """Whether nobody has asked for its deletion."""
    return not pod["metadata"].get("deletionTimestamp")


class _Yard:
    """What the nodes of a snapshot are called, offer and hold."""

    def __init__(self, nodes: Iterable[JSON]) -> None:
        self.names: dict[str, str] = {}
        self.allocatable: dict[str, dict[str, int]] = {}
        self.links_down: dict[str, tuple[str, ...]] = {}
        self._places: dict[str, str] = {}
        for node in nodes:
            metadata = node["metadata"]
            if (node.get("spec") or {}).get("unschedulable"):
                continue
            name = metadata["name"]
            self.names[name] = (metadata.get("labels") or {}).get(vocabulary.YARD_NODE, name)
            self.allocatable[name] = offered(node)
            inventory = annotations.read_inventory(
                (metadata.get("annotations") or {}).get(vocabulary.INVENTORY)
            )
            if inventory is None:
                continue
            self._places |= {device.id: _place(device) for device in inventory.devices()}
            ends = ((gpu.index, other) for gpu in inventory.gpus for other in gpu.lost_links)
            self.links_down[name] = tuple(f"{one}-{other}" for one, other in ends if one < other)

    def place(self, device: str) -> str:
        return self._places.get(device, device)


def _place(device: Device) -> str:
    place = f"{device.gpu}:{device.start}" if device.size else str(device.gpu)
    return place if device.replica is None else f"{place}::"


def _pod(pod: JSON, yard: _Yard, explained: JSON | None) -> PodSeen:
    status, node = pod.get("status") or {}, (pod.get("spec") or {}).get("nodeName", "")
    live = is_live(pod)
    devices = {
        container: tuple(sorted(map(yard.place, ids)))
        for container, ids in held_devices(pod).items()
        if live and ids
    }
    found = explained or {}
    return PodSeen(
        phase=status.get("phase", "Pending"),
        node=yard.names.get(node, node),
        devices=devices,
        code=found.get("code") or "",
        reasons={yard.names.get(n["node"], n["node"]): n["reason"] for n in found.get("nodes") or ()},
        judged=any(
            c["type"] == "PodScheduled" and c["status"] == "False" for c in status.get("conditions") or ()
        ),
    )


def _group(group: JSON) -> GroupSeen:
    found = condition(group.get("status") or {}, SCHEDULED)
    return GroupSeen(found.get("status", ""), found.get("reason", ""), found.get("message", ""))


def _free(
    allocatable: Mapping[str, Mapping[str, int]], pods: Iterable[JSON], yard: _Yard
) -> dict[str, dict[str, int]]:
    """Whole devices that no live pod asks for, by node and resource."""
    free = {node: dict(counts) for node, counts in allocatable.items()}
    for pod in filter(is_live, pods):
        counts = free.get(yard.names.get((pod.get("spec") or {}).get("nodeName", ""), ""), {})
        for container in pod["spec"].get("containers") or ():
            for resource, quantity in ((container.get("resources") or {}).get("limits") or {}).items():
                if resource in counts:
                    counts[resource] -= whole(quantity)
    return free
