"""The usual machines by name, read from data/presets.json: what a yard's node can be without spelling out its GPUs.

Stands for the vendors' data sheets and listings of `nvidia-smi topo -m`; the file says where each fact was seen.
"""

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any


@dataclass(frozen=True, slots=True)
class Preset:
    """`node` is an entry of a yard's `nodes`, without its name."""

    name: str
    about: str
    node: Mapping[str, Any]

    def completed(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """The entry of a node of this kind: what it says itself counts, resource by resource for its capacity."""
        own = entry.get("capacity")
        if not isinstance(own, dict):
            return {**self.node, **entry}
        return {**self.node, **entry, "capacity": {**self.node["capacity"], **own}}


@functools.cache
def presets() -> Mapping[str, Preset]:
    """All of them, by name."""
    text = resources.files("gpuyard").joinpath("data/presets.json").read_text("utf-8")
    found = json.loads(text)["presets"]
    return {name: Preset(name, preset["about"], _node(found, preset)) for name, preset in found.items()}


def _node(found: Mapping[str, Any], preset: Mapping[str, Any]) -> dict[str, Any]:
    base = found[preset["extends"]]["node"] if "extends" in preset else {}
    return {**base, **preset["node"]}
