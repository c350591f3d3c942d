"""A yard.yaml as a user writes it, checked before anything runs."""

from pathlib import Path

from gpuyard import yard
from gpuyard.yard import YardNode
from gpuyard_cli.inputs import InvalidInputError, documents
from gpuyard_device_plugin.config import config
from gpuyard_device_plugin.devices import node_inventory


def load_yard(path: Path) -> tuple[YardNode, ...]:
    """The nodes in a yard.yaml."""
    try:
        nodes = yard.parse(only(path))
    except yard.InvalidYardError as fault:
        raise InvalidInputError(path, fault.field, fault.problem, fault.remedy) from fault
    for number, node in enumerate(nodes):
        _check_plugin(path, f"nodes[{number}].plugin", node)
    return nodes


def _check_plugin(path: Path, place: str, node: YardNode) -> None:
    """The plugin's configuration must make sense, and for the node's GPUs."""
    try:
        node_inventory.build(node.gpus, config.parse(node.plugin_config))
    except config.InvalidConfigError as fault:
        raise InvalidInputError(path, f"{place}.{fault.field}", fault.problem, fault.remedy) from fault


def only(path: Path) -> object:
    """The one YAML document of a file."""
    found = documents(path)
    if len(found) != 1:
        raise InvalidInputError(path, "", f"{len(found)} documents", "write exactly one YAML document")
    return found[0]
