"""What `gpuyard top` keeps of a cluster: its nodes with GPUs, and which pod has which devices there.

Law: whatever object comes, the rest is shown; what cannot be read is counted. Truth beats plan: of a container that
the kubelet has spoken of, the plan says nothing any more.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from gpuyard import annotations, vocabulary
from gpuyard.annotations import ids
from gpuyard.hardware.inventory import Inventory
from gpuyard.pods import amounts, limits, requests
from gpuyard.pods.fit import Amounts
from gpuyard.pods.limits import Limits
from gpuyard.writes import JSON
from gpuyard_device_plugin.devices import driver_reports
from gpuyard_device_plugin.devices.driver_reports import Reports
from gpuyard_extender.ledger import pods

_UNREADABLE: Final = (AttributeError, KeyError, OverflowError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class Holding:
    """What a live pod has on its node; without one it waits. The kubelet has not named those that are `planned`."""

    pod: str
    node: str
    told: frozenset[str]
    planned: frozenset[str]
    asked: Amounts
    limits: Limits = limits.NONE
    """How much of its GPU its share may use."""


@dataclass(frozen=True, slots=True)
class SeenNode:
    """A node as its object says. `inventory` None: only counts are known, `offered` of which `sick` are unhealthy."""

    name: str
    inventory: Inventory | None
    offered: Amounts
    sick: Amounts
    reports: Reports
    marks: tuple[str, ...] = ()
    """What else matters of it, such as that it is cordoned."""
    since: str = ""
    """When its inventory was last written, as far as the API server knows."""


class Followed:
    """`gpuyard_kube.api.Observer` of `watched.PATHS`. `heard` is called with the resource after each change."""

    def __init__(self) -> None:
        self.heard: Callable[[str], None] = lambda _: None
        self.nodes: dict[str, SeenNode] = {}
        self.pods: dict[str, Holding] = {}
        """By UID: those that ask for GPUs and have not ended."""
        self.unreadable = set[str]()
        """The objects that are left out, each by its resource and key."""

    def replace(self, resource: str, objects: Iterable[JSON]) -> None:
        kept: dict[str, Any] = self.nodes if resource == "nodes" else self.pods
        kept.clear()
        self.unreadable = {found for found in self.unreadable if not found.startswith(f"{resource}/")}
        for obj in objects:
            self._keep(resource, obj, kept)
        self.heard(resource)

    def observe(self, resource: str, event: str, obj: JSON) -> None:
        kept: dict[str, Any] = self.nodes if resource == "nodes" else self.pods
        if event == "DELETED":
            kept.pop(_key(resource, obj), None)
            self.unreadable.discard(f"{resource}/{_key(resource, obj)}")
        else:
            self._keep(resource, obj, kept)
        self.heard(resource)

    def _keep(self, resource: str, obj: Any, kept: dict[str, Any]) -> None:
        key, read = _key(resource, obj), seen_node if resource == "nodes" else holding
        kept.pop(key, None)
        self.unreadable.discard(f"{resource}/{key}")
        try:
            found = read(obj)
        except _UNREADABLE:
            self.unreadable.add(f"{resource}/{key}")
            return
        if found is not None:
            kept[key] = found


def holding(obj: JSON) -> Holding | None:
    """What a pod has or waits for; None for one that has ended or asks for no GPU. ValueError: it cannot be read."""
    pod = pods.read(obj)
    if pod is None:
        raise ValueError("no pod that can be read")
    asked = _of_devices(amounts.requests_of(obj))
    told, planned = ids(pod.truth), ids(pod.plan)
    if pod.ended or not (asked or told or planned):
        return None
    return Holding(f"{pod.namespace}/{pod.name}", pod.node, told, planned - told, asked, pod.limits)


def seen_node(node: JSON) -> SeenNode:
    """The node as it is. One of _UNREADABLE for what is none."""
    metadata, status = node["metadata"], node.get("status") or {}
    notes = metadata.get("annotations") or {}
    offered = _of_devices(amounts.read(status.get("allocatable")))
    # A kubelet says of an unhealthy device that the node has it, and that nobody can get it.
    had = _of_devices(amounts.read(status.get("capacity")))
    return SeenNode(
        name=str(metadata["name"]),
        inventory=annotations.read_inventory(notes.get(vocabulary.INVENTORY)),
        offered=offered,
        sick={
            name: count - offered.get(name, 0) for name, count in had.items() if count > offered.get(name, 0)
        },
        reports=driver_reports.read(node),
        marks=_marks(node),
        since=_since(metadata),
    )


def _since(metadata: JSON) -> str:
    field = f"f:{vocabulary.INVENTORY}"
    for entry in metadata.get("managedFields") or ():
        if field in entry.get("fieldsV1", {}).get("f:metadata", {}).get("f:annotations", {}):
            return str(entry.get("time") or "")
    return ""


def _marks(node: JSON) -> tuple[str, ...]:
    labels = node["metadata"].get("labels") or {}
    conditions = (node.get("status") or {}).get("conditions") or ()
    ready = any((found["type"], found["status"]) == ("Ready", "True") for found in conditions)
    said = (
        f"rack {labels[vocabulary.RACK]}" if vocabulary.RACK in labels else "",
        "" if ready else "not ready",
        "cordoned" if (node.get("spec") or {}).get("unschedulable") else "",
    )
    return tuple(filter(None, said))


def _of_devices(found: Amounts) -> dict[str, int]:
    return {name: count for name, count in found.items() if count and requests.is_device_resource(name)}


def _key(resource: str, obj: Any) -> str:
    """Nodes go by name, pods by UID: one that is created again under its name is another pod."""
    metadata = obj.get("metadata") if isinstance(obj, dict) else None
    found = metadata.get("name" if resource == "nodes" else "uid") if isinstance(metadata, dict) else None
    return str(found or "?")
