"""Node objects of presets that nobody has, as their kubelet and device plugin would write them.

Stands for the templates that a cluster autoscaler gets from its cloud. Law: made by the same functions as the nodes
of `gpuyard up`.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from gpuyard import vocabulary, yard
from gpuyard.hardware.presets import counted, presets
from gpuyard.pods import quantities
from gpuyard.writes import JSON
from gpuyard.yard import YardNode
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_cluster.kubelet.device_manager import Devices
from gpuyard_cluster.kubelet.node_status import Machine, registration
from gpuyard_device_plugin.config import config
from gpuyard_device_plugin.devices import node_inventory
from gpuyard_device_plugin.publishing import publication

_MOST: Final = 5000


def added(wanted: Sequence[str]) -> list[JSON]:
    """The nodes that texts such as `2xdgx-h100` ask for. InvalidInputError names what is wrong with one."""
    counts = Counter[str]()
    for text in wanted:
        count, name = counted(text)
        if text.startswith("0") or name not in presets():
            remedy = f"write 2xPRESET with one of {', '.join(presets())}"
            raise InvalidInputError("--add-nodes", "", f"{text!r} is unknown", remedy)
        counts[name] += count
    if sum(counts.values()) > _MOST:
        raise InvalidInputError("--add-nodes", "", f"{sum(counts.values())} nodes", f"at most {_MOST}")
    names = [(name, f"added-{name}-{i + 1}") for name, count in counts.items() for i in range(count)]
    return list(map(_node, yard.parse({"nodes": [{"name": node, "preset": name} for name, node in names]})))


def _node(made: YardNode) -> JSON:
    inventory = node_inventory.build(made.gpus, config.parse(made.plugin_config))
    labels = {**made.labels, vocabulary.YARD_NODE: made.name, vocabulary.FAKE_GPUS: "true"}
    machine = Machine(made.name, labels, made.capacity)
    node: Any = registration(machine, Devices({}, frozenset(), ()), 0).body
    told = publication.difference(node, inventory)["metadata"]
    node["metadata"]["labels"] |= told["labels"]
    node["metadata"]["annotations"] = told["annotations"]
    for resource, count in Counter(device.resource for device in inventory.devices()).items():
        node["status"]["allocatable"][resource] = quantities.canonical(count)
    return dict(node)
