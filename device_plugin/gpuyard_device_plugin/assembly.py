"""From files and a Node object to what the plugin is to be; every complaint names the file, the field and a remedy.

Stands for the loading half of NVIDIA's api/config/v1 and of the kubelet's node identity.
"""

from pathlib import Path
from typing import Any

import yaml

from gpuyard import vocabulary, yard
from gpuyard.writes import JSON
from gpuyard.yard import InvalidYardError, YardNode
from gpuyard_device_plugin import config, node_inventory
from gpuyard_device_plugin.config import InvalidConfigError
from gpuyard_device_plugin.ports import PluginSpec


class SetupError(Exception):
    """The plugin cannot start; the text is one line for the user."""


def plugin_spec(node: JSON, yard_file: Path, yard_node: str | None, config_file: Path | None) -> PluginSpec:
    """The plugin of `node`, which plays `yard_node` (by default as its label says, else under its own name).

    `config_file` is NVIDIA's file and goes before the one in the yard. SetupError when something cannot be used.
    """
    metadata = node["metadata"]
    name = metadata["name"]
    played = yard_node or (metadata.get("labels") or {}).get(vocabulary.YARD_NODE) or name
    found = _yard_node(yard_file, played)
    source, document = (
        (yard_file, found.plugin_config) if config_file is None else (config_file, _document(config_file))
    )
    try:
        parsed = config.parse(document)
        node_inventory.build(found.gpus, parsed)
    except InvalidConfigError as error:
        raise SetupError(f"{source}: {error}") from error
    return PluginSpec(name, found.gpus, parsed)


def _yard_node(file: Path, name: str) -> YardNode:
    try:
        nodes = yard.parse(_document(file))
    except InvalidYardError as error:
        raise SetupError(f"{file}: {error}") from error
    for node in nodes:
        if node.name == name:
            return node
    known = ", ".join(node.name for node in nodes) or "none"
    raise SetupError(f"{file}: there is no node {name!r}; name one of these with --yard-node: {known}")


def _document(file: Path) -> Any:
    try:
        return yaml.safe_load(file.read_text())
    except OSError as error:
        raise SetupError(f"{file}: {error.strerror or error}; name a file that can be read") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        problem = " ".join(str(error).split())
        raise SetupError(f"{file}: not YAML: {problem}; correct the file") from error
