"""More nodes than a trace has: what would have become of the same pods with them?"""

from collections.abc import Sequence
from typing import Final

from gpuyard import yard
from gpuyard.hardware.presets import counted, presets
from gpuyard.pods import quantities
from gpuyard.pods.amounts import MIB
from gpuyard_replay.traces import InvalidTraceError, TraceNode

_MOST: Final = 10_000


def parsed(texts: Sequence[str], nodes: Sequence[TraceNode]) -> list[TraceNode]:
    """The nodes that texts such as `2xdgx-h100` stand for: of a preset, or as a node of the trace is."""
    found: list[TraceNode] = []
    for text in texts:
        count, name = counted(text)
        if not name or not 1 <= count <= _MOST:
            raise InvalidTraceError(f"--add-nodes {text}", f"not 1 to {_MOST} nodes", "write 2xNAME")
        base = _node_of(name, nodes)
        taken = {node.name for node in (*nodes, *found)}
        numbers = (f"{name}+{number}" for number in range(1, _MOST + len(taken)))
        free = (name for name in numbers if name not in taken)
        found += [TraceNode(next(free), base.cpu, base.memory, base.gpus, base.model) for _ in range(count)]
    return found


def _node_of(name: str, nodes: Sequence[TraceNode]) -> TraceNode:
    like = next((node for node in nodes if node.name == name), None)
    if like is not None:
        return like
    if name not in presets():
        known = ", ".join(presets())
        raise InvalidTraceError(
            f"--add-nodes {name}", "neither a preset nor a node of the trace", f"use one of {known}"
        )
    [found] = yard.parse({"nodes": [{"name": "added", "preset": name}]})
    cpu, memory = quantities.milli(found.capacity["cpu"]), quantities.rounded_up(found.capacity["memory"])
    return TraceNode(name, cpu, memory // MIB, len(found.gpus), found.gpus[0].model if found.gpus else "")
