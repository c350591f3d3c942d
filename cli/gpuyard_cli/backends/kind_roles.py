"""What it means for a worker to play a node of a yard: pure functions of API objects."""

from typing import Final

from gpuyard import annotations, vocabulary
from gpuyard.hardware.inventory import Inventory
from gpuyard.writes import JSON
from gpuyard.yard import YardNode
from gpuyard_cli.scenarios.observation import offered
from gpuyard_device_plugin.config import config
from gpuyard_device_plugin.devices import node_inventory

OF_A_SCENARIO: Final = "gpuyard.io/scenario"
"""On a namespace: a scenario made it, and may delete it with all that is in it."""


def marked(obj: JSON) -> JSON:
    """An object as it is to be applied: a namespace says where it comes from."""
    if obj["kind"] != "Namespace":
        return obj
    notes = {**(obj["metadata"].get("annotations") or {}), OF_A_SCENARIO: "true"}
    return {**obj, "metadata": {**obj["metadata"], "annotations": notes}}


def ends(pod: JSON) -> bool:
    """Whether a pod is about to give its devices back."""
    planned = vocabulary.ALLOCATION in (pod["metadata"].get("annotations") or {})
    return planned and "deletionTimestamp" in pod["metadata"]


def offers(node: JSON, part: YardNode) -> bool:
    """Whether plugin and kubelet of a node have told the API server all of the yard node that it plays."""
    inventory = _inventory(part)
    counts: dict[str, int] = {}
    for device in inventory.devices():
        counts[device.resource] = counts.get(device.resource, 0) + device.healthy
    return _told(node) == annotations.write_inventory(inventory) and offered(node) == counts


def told(node: JSON, part: YardNode) -> bool:
    """Whether the plugin of a node has told of the devices of its part, healthy or not."""
    inventory = annotations.read_inventory(_told(node))
    known = {(device.id, device.resource) for device in _inventory(part).devices()}
    return inventory is not None and {(found.id, found.resource) for found in inventory.devices()} == known


def _told(node: JSON) -> str | None:
    return (node["metadata"].get("annotations") or {}).get(vocabulary.INVENTORY)


def _inventory(part: YardNode) -> Inventory:
    return node_inventory.build(part.gpus, config.parse(part.plugin_config))


def role(part: YardNode | None, *, cordoned: bool) -> JSON:
    """The merge patch that lets a node play a yard node, or none."""
    wanted: dict[str, str | None] = dict(part.labels) if part else {}
    wanted |= {
        vocabulary.FAKE_GPUS: "true" if part else "false",
        vocabulary.YARD_NODE: part.name if part else None,
    }
    return {"metadata": {"labels": wanted}, "spec": {"unschedulable": True if cordoned else None}}


def values(found: JSON, patch: JSON) -> JSON:
    """What an object has where a merge patch changes it; None where it has nothing."""
    return {
        key: values(found.get(key) or {}, part) if isinstance(part, dict) else found.get(key)
        for key, part in patch.items()
    }
