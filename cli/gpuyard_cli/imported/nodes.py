"""An existing node as a node of a yard, and what has to be written on it once it is there."""

from dataclasses import dataclass
from typing import Any

from gpuyard import shapes, vocabulary
from gpuyard.hardware.inventory import Inventory
from gpuyard.pods import quantities
from gpuyard.writes import JSON, PatchType, Write
from gpuyard.yard import YardNode
from gpuyard_cli.imported import gpus
from gpuyard_cli.imported.notes import Notes
from gpuyard_device_plugin.publishing import gfd

_OURS = (vocabulary.YARD_NODE, vocabulary.FAKE_GPUS)


@dataclass(frozen=True, slots=True)
class ImportedNode:
    """`marks` are its taints and its cordon, which no kubelet sets."""

    node: YardNode
    marks: Write | None


def imported(node: JSON, notes: Notes) -> ImportedNode:
    """The node with the GPUs that it seems to have. ValueError for what no node of the yard can have."""
    _check_names(node)
    inventory = gpus.inventory_of(node, notes)
    found = YardNode(
        name=node["metadata"]["name"],
        labels=_labels(node, inventory),
        capacity=_offered(node),
        gpus=inventory.gpus,
        plugin_config=gpus.plugin_config(inventory) if inventory.gpus else {},
    )
    return ImportedNode(found, _marks(node))


def _check_names(node: JSON) -> None:
    """Nobody has validated them, and a kubelet whose node is refused would go on asking."""
    metadata, offered = node["metadata"], (node.get("status") or {}).get("allocatable") or {}
    if not shapes.is_label_value(metadata["name"]):
        raise ValueError(
            "metadata.name: it is longer than 63, which its label kubernetes.io/hostname has to hold"
        )
    for key, value in (metadata.get("labels") or {}).items():
        if not (shapes.is_key(key) and shapes.is_label_value(value)):
            raise ValueError(f"metadata.labels: {key:.80}: {value:.80} is not a label")
    for resource in offered:
        if not shapes.is_key(resource):
            raise ValueError(f"status.allocatable: {resource!r:.80} is not a resource")


def _labels(node: JSON, inventory: Inventory) -> dict[str, str]:
    """All but those that the plugin will write, and ours."""
    again = gfd.labels(inventory)
    labels = node["metadata"].get("labels") or {}
    return {key: value for key, value in labels.items() if key not in again and key not in _OURS}


def _offered(node: JSON) -> dict[str, str]:
    """What pods can have beside GPUs. What the system keeps for itself is no pod's."""
    allocatable = (node.get("status") or {}).get("allocatable") or {}
    return {
        resource: _amount(resource, amount)
        for resource, amount in allocatable.items()
        if not resource.startswith("nvidia.com/")
    }


def _amount(resource: str, amount: Any) -> str:
    try:
        found = quantities.parse(amount)
    except ValueError as error:
        raise ValueError(f"status.allocatable.{resource}: {error}") from error
    if found.nano < 0:
        raise ValueError(f"status.allocatable.{resource}: {amount!r:.80} is less than nothing")
    return quantities.canonical(amount)


def _marks(node: JSON) -> Write | None:
    spec = node.get("spec") or {}
    marks = {key: spec[key] for key in ("taints", "unschedulable") if spec.get(key)}
    # The node lifecycle controller sets and takes away its own.
    if "taints" in marks:
        marks["taints"] = [t for t in marks["taints"] if not t["key"].startswith("node.kubernetes.io/")]
    if not any(marks.values()):
        return None
    return Write("PATCH", f"/api/v1/nodes/{node['metadata']['name']}", {"spec": marks}, PatchType.MERGE)
