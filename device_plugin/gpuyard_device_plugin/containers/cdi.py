"""The CDI specification of a node: what a container runtime does for each device that a container gets by name.

Stands for NVIDIA's internal/cdi. There are no device nodes to add; a variable of each device shows that the runtime
has found it. Runtimes read the folder anew for each container, so the file must be there before any is created.
"""

import json
import os
from pathlib import Path
from typing import Final

from gpuyard.hardware.inventory import Inventory
from gpuyard.writes import JSON
from gpuyard_device_plugin.config.config import DeviceListStrategy, PluginConfig
from gpuyard_device_plugin.containers import grants

FILE: Final = "gpuyard-gpu.json"
_STRATEGIES: Final = {DeviceListStrategy.CDI_ANNOTATIONS, DeviceListStrategy.CDI_CRI}


def specification(inventory: Inventory, config: PluginConfig) -> JSON | None:
    """The document; None where nobody gets devices by CDI."""
    names = grants.visible_names(inventory, config)
    if not names or not _STRATEGIES.intersection(config.device_list):
        return None
    return {
        "cdiVersion": "0.5.0",
        "kind": grants.CDI_KIND,
        # The name is the container's own to see; an empty list of edits is refused by every runtime.
        "devices": [
            {"name": name, "containerEdits": {"env": [f"GPUYARD_CDI_{number}={name}"]}}
            for number, name in enumerate(names)
        ],
        # As NVIDIA's: its own runtime must not add devices once more.
        "containerEdits": {"env": ["NVIDIA_VISIBLE_DEVICES=void"]},
    }


def write(folder: Path, document: JSON | None) -> None:
    """Make the file say so, at once; no document, no file. OSError when it cannot be."""
    path = folder / FILE
    if document is None:
        path.unlink(missing_ok=True)
        return
    text = json.dumps(document, sort_keys=True, indent=1)
    if path.exists() and path.read_text() == text:
        return
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f".{FILE}.{os.getpid()}"
    temporary.write_text(text)
    temporary.rename(path)
