"""The nodes of a yard, from the decoded yard.yaml: what a cluster without hardware is made of.

Law: a yard is either understood completely or refused with one error that names the field and the remedy.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gpuyard import shapes, yard_fields, yard_gpus
from gpuyard.hardware.gpus import GPU
from gpuyard.hardware.presets import presets
from gpuyard.writes import JSON
from gpuyard.yard_fields import InvalidYardError

__all__ = ["InvalidYardError", "YardNode", "parse"]

_CAPACITY = {"cpu": "64", "memory": "512Gi", "pods": "110"}
_LABEL = "use at most 63 letters, digits, '-', '_' and '.', with a letter or a digit first and last"
_NODE_KEYS = ("name", "labels", "capacity", "gpus", "mig", "plugin", "joins", "preset")


@dataclass(frozen=True, slots=True)
class YardNode:
    """One node. `capacity` holds Kubernetes quantities; `plugin_config` is NVIDIA's v1 file, as given."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    capacity: Mapping[str, str] = field(default_factory=lambda: dict(_CAPACITY))
    gpus: tuple[GPU, ...] = ()
    plugin_config: JSON = field(default_factory=dict)
    later: bool = False
    """Not in the cluster until a step of a scenario lets it join."""


def parse(document: Any) -> tuple[YardNode, ...]:
    """The nodes, in the order given. InvalidYardError when anything in the document cannot be understood."""
    entries = yard_fields.mapping(document, "yard", ("nodes",), ("nodes",))
    nodes: dict[str, YardNode] = {}
    for i, found in enumerate(yard_fields.sequence(entries["nodes"], "nodes")):
        node = _node(found, f"nodes[{i}]")
        if node.name in nodes:
            raise InvalidYardError(
                f"nodes[{i}].name", f"two nodes have the name {node.name!r}", "rename one of them"
            )
        nodes[node.name] = node
    return tuple(nodes.values())


def _node(found: Any, where: str) -> YardNode:
    entry = yard_fields.mapping(found, where, _NODE_KEYS, ("name",))
    name = _name(entry["name"], f"{where}.name")
    entry = _with_preset(entry, f"{where}.preset")
    gpus = yard_gpus.gpus_of(name, entry.get("gpus"), f"{where}.gpus")
    return YardNode(
        name=name,
        labels=_labels(entry.get("labels"), f"{where}.labels"),
        capacity=_capacity(entry.get("capacity"), f"{where}.capacity"),
        gpus=yard_gpus.with_instances(gpus, entry.get("mig"), f"{where}.mig"),
        plugin_config=dict(yard_fields.plain_mapping(entry.get("plugin"), f"{where}.plugin")),
        later=_later(entry.get("joins"), f"{where}.joins"),
    )


def _with_preset(entry: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """The entry, completed by the preset that it names."""
    name = entry.get("preset")
    if name is None:
        return entry
    preset = presets().get(yard_fields.text(name, where))
    if preset is None:
        raise InvalidYardError(where, f"{name!r} is unknown", f"use {', '.join(presets())}")
    return preset.completed(entry)


def _name(found: Any, where: str) -> str:
    name = yard_fields.text(found, where)
    if not (shapes.NAME.fullmatch(name) and shapes.is_label_value(name)):
        remedy = "use at most 63 small letters, digits, '-' and '.', such as node-1"
        raise InvalidYardError(where, f"{yard_fields.short(name)} is not a node name", remedy)
    return name


def _labels(found: Any, where: str) -> dict[str, str]:
    entries = yard_fields.plain_mapping(found, where)
    for key, label in entries.items():
        if not isinstance(label, str):
            raise InvalidYardError(f"{where}.{key}", f"{label!r} is not a text", "put it in quotes")
        if not shapes.is_key(key):
            raise InvalidYardError(where, f"{yard_fields.short(key)} is not the key of a label", _LABEL)
        if not shapes.is_label_value(label):
            problem = f"{yard_fields.short(label)} is not the value of a label"
            raise InvalidYardError(f"{where}.{key}", problem, _LABEL)
    return dict(entries)


def _capacity(found: Any, where: str) -> dict[str, str]:
    entries = yard_fields.mapping(found, where, _CAPACITY)
    return _CAPACITY | {
        resource: yard_fields.quantity(amount, f"{where}.{resource}") for resource, amount in entries.items()
    }


def _later(found: Any, where: str) -> bool:
    if found not in (None, "later"):
        raise InvalidYardError(where, f"{found!r} is unknown", "write joins: later, or leave it out")
    return found is not None
