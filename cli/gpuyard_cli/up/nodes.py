"""Which nodes `gpuyard up` starts with, what else it is to restore, and by which policy it is to choose."""

import argparse
import re
from collections import Counter
from collections.abc import Sequence

from gpuyard import yard
from gpuyard.hardware.presets import presets
from gpuyard.policies import registry
from gpuyard.yard import YardNode
from gpuyard_cli.imported import cluster
from gpuyard_cli.imported.cluster import Imported
from gpuyard_cli.imported.notes import Notes
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_cli.scenarios.yard_files import load_yard

DEFAULT = ("dgx-h100x2",)
_MOST_NODES = 5000


def chosen(arguments: argparse.Namespace) -> Imported:
    """What the arguments name. InvalidInputError when that cannot be understood."""
    if arguments.from_file is not None:
        return cluster.read(arguments.from_file)
    if arguments.nodes is not None:
        return _only(load_yard(arguments.nodes))
    return _only(of_presets(tuple(presets()) if arguments.mixed else arguments.preset or DEFAULT))


def check_policy(name: str) -> None:
    """InvalidInputError when there is no policy of this name, PolicyError when it cannot be loaded."""
    if name not in registry.names():
        raise InvalidInputError("--policy", "", f"{name!r} is unknown", f"use {', '.join(registry.names())}")
    registry.named(name)


def of_presets(wanted: Sequence[str]) -> tuple[YardNode, ...]:
    """Nodes of presets, each written as its name, and behind an x how many of them."""
    counts: Counter[str] = Counter()
    for text in wanted:
        name, count = _parsed(text)
        counts[name] += count
    names = [(name, f"{name}-{number + 1}") for name, count in counts.items() for number in range(count)]
    return yard.parse({"nodes": [{"name": node, "preset": name} for name, node in names]})


def _parsed(text: str) -> tuple[str, int]:
    name, count = text, 1
    if text not in presets() and (found := re.fullmatch(r"(.+)x([0-9]{1,9})", text)):
        name, count = found[1], int(found[2])
    if name not in presets():
        raise InvalidInputError("--preset", "", f"{name!r} is unknown", f"use {', '.join(presets())}")
    if not 1 <= count <= _MOST_NODES:
        raise InvalidInputError("--preset", "", f"{count} nodes", f"ask for 1 to {_MOST_NODES}")
    return name, count


def _only(nodes: tuple[YardNode, ...]) -> Imported:
    return Imported(nodes, (), Notes())
