"""The usual machines by name, read from data/presets.json: what a yard's node can be without spelling out its GPUs.

Stands for the vendors' data sheets and listings of `nvidia-smi topo -m`; the file says where each fact was seen.
"""

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

_DIGITS: Final = 5


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


def counted(text: str) -> tuple[int, str]:
    """How many nodes of which kind `2xdgx-h100` asks for; one of that name where no number is in front."""
    number, times, name = text.partition("x")
    if times and name and number.isascii() and number.isdecimal() and len(number) <= _DIGITS:
        return int(number), name
    return 1, text


def _node(found: Mapping[str, Any], preset: Mapping[str, Any]) -> dict[str, Any]:
    base = found[preset["extends"]]["node"] if "extends" in preset else {}
    return {**base, **preset["node"]}
