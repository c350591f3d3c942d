"""From files and a Node object to what the plugin is to be; every complaint names the file, the field and a remedy.

Stands for the loading half of NVIDIA's api/config/v1 and of the kubelet's node identity.
"""

from pathlib import Path
from typing import Any

from gpuyard import vocabulary, yard
from gpuyard.writes import JSON
from gpuyard.yard import InvalidYardError, YardNode
from gpuyard_device_plugin.config import config, config_files
from gpuyard_device_plugin.config.config import InvalidConfigError, PluginConfig
from gpuyard_device_plugin.config.config_files import SetupError
from gpuyard_device_plugin.devices import node_inventory
from gpuyard_device_plugin.ports import PluginSpec
from gpuyard_kube import documents
from gpuyard_kube.documents import InvalidDocumentError

__all__ = ["SetupError", "plugin_spec"]


def plugin_spec(node: JSON, yard_file: Path, yard_node: str | None, configured: Path | None) -> PluginSpec:
    """The plugin of `node`, which plays `yard_node` (by default as its label says, else under its own name).

    `configured` is NVIDIA's file, or a folder of such files from which the node's label chooses; what is found there
    goes before `plugin` in the yard. SetupError when something cannot be used.
    """
    metadata = node["metadata"]
    name, labels = metadata["name"], metadata.get("labels") or {}
    played = yard_node or labels.get(vocabulary.YARD_NODE) or name
    file = config_files.chosen(configured, labels)
    source, parsed = (yard_file, None) if file is None else (file, _parsed(file, _document(file)))
    known = _yard(yard_file)
    if (found := known.get(played)) is None:
        if parsed is not None and not parsed.fail_on_init_error:
            return PluginSpec(name, (), parsed)
        named = ", ".join(known) or "none"
        raise SetupError(
            f"{yard_file}: there is no node {played!r}; name one of these with --yard-node: {named}"
        )
    parsed = parsed or _parsed(source, found.plugin_config)
    try:
        node_inventory.build(found.gpus, parsed)
    except InvalidConfigError as error:
        raise SetupError(f"{source}: {error}") from error
    return PluginSpec(name, found.gpus, parsed)


def _parsed(source: Path, document: Any) -> PluginConfig:
    try:
        return config.parse(document)
    except InvalidConfigError as error:
        raise SetupError(f"{source}: {error}") from error


def _yard(file: Path) -> dict[str, YardNode]:
    try:
        return {node.name: node for node in yard.parse(_document(file))}
    except InvalidYardError as error:
        raise SetupError(f"{file}: {error}") from error


def _document(file: Path) -> Any:
    try:
        return documents.only(file)
    except InvalidDocumentError as error:
        raise SetupError(f"{file}: {error}") from error
