"""What is kept of a node: what decides what fits on it, and whose GPUs it has. Heartbeats are no part of it."""

import functools
from dataclasses import dataclass

from gpuyard import vocabulary
from gpuyard.annotations import read_inventory
from gpuyard.pods.fit import NodeFit
from gpuyard.writes import JSON


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """`inventory` is the text in which its plugin describes its GPUs, where one does."""

    fit: NodeFit
    inventory: str | None

    @property
    def name(self) -> str:
        return self.fit.name

    @property
    def product(self) -> str:
        """The model of its GPUs; empty where it does not say."""
        return str(self.fit.labels.get(vocabulary.PRODUCT_LABEL) or "")

    @property
    def sound(self) -> frozenset[str] | None:
        """The devices that are there and well; None where nobody can know them: it has no inventory of use."""
        return _sound(self.inventory)


def read(node: JSON) -> NodeFacts | None:
    """The facts in a Node object; None when it cannot be used, by the extender neither."""
    try:
        marks = node["metadata"].get("annotations") or {}
        return NodeFacts(NodeFit.of(node), marks.get(vocabulary.INVENTORY))
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


# Asked for each seat on a node, while few nodes have any.
@functools.lru_cache(maxsize=256)
def _sound(inventory: str | None) -> frozenset[str] | None:
    found = read_inventory(inventory)
    return None if found is None else frozenset(device.id for device in found.devices() if device.healthy)
