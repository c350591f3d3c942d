"""What is kept of a node: what decides what fits on it, and whose GPUs it has. Heartbeats are no part of it."""

from dataclasses import dataclass
from typing import Any

from gpuyard import vocabulary
from gpuyard.writes import JSON


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """`product` is the model of its GPUs; empty where it does not say."""

    name: str
    product: str
    offer: tuple[Any, ...]


def read(node: JSON) -> NodeFacts:
    """The facts in a Node object."""
    metadata, spec, status = (node.get(part) or {} for part in ("metadata", "spec", "status"))
    labels = metadata.get("labels") or {}
    ready = [c.get("status") for c in status.get("conditions") or () if c.get("type") == "Ready"]
    inventory = (metadata.get("annotations") or {}).get(vocabulary.INVENTORY)
    placing = (labels, spec.get("taints"), spec.get("unschedulable"), status.get("allocatable"), ready)
    return NodeFacts(
        str(metadata["name"]), str(labels.get(vocabulary.PRODUCT_LABEL) or ""), (inventory, *placing)
    )
