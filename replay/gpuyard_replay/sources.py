"""A trace as the command line names it: files beside each other, an order or a seed, and how far to go."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpuyard.policies.workload import WHOLE
from gpuyard_replay import arrivals, traces
from gpuyard_replay.replaying import Scene
from gpuyard_replay.traces import InvalidTraceError, TraceNode, TracePod

_NODE_FILES: Final = ("nodes.csv", "openb_node_list_gpu_node.csv")


@dataclass(frozen=True, slots=True)
class Source:
    """Where a trace is. `until`: arrivals ask for so many percent of all GPUs."""

    trace: Path
    nodes: Path | None = None
    until: int = 130

    @property
    def name(self) -> str:
        return self.trace.stem.removeprefix("openb_pod_list_")


def drawn(source: Source, seed: int) -> Scene:
    """The trace with pods in an order that is drawn."""
    nodes, pods = _read(source)
    limit = sum(node.gpus for node in nodes) * WHOLE * source.until // 100
    came, ranks = arrivals.draw(pods, nodes, seed, limit)
    return Scene(nodes, ranks, came, pods, seed)


def ordered(source: Source, order: Path, seed: int) -> Scene:
    """The trace with pods in the order of a file."""
    nodes, pods = _read(source)
    came, ranks = arrivals.ordered(traces.read_order(order), pods, nodes)
    return Scene(nodes, ranks, came, pods, seed)


def _read(source: Source) -> tuple[tuple[TraceNode, ...], tuple[TracePod, ...]]:
    pods = traces.read_pods(source.trace)
    return traces.read_nodes(source.nodes or _beside(source.trace)), pods


def _beside(trace: Path) -> Path:
    for name in _NODE_FILES:
        if (trace.parent / name).is_file():
            return trace.parent / name
    raise InvalidTraceError(trace.parent, f"no {' or '.join(_NODE_FILES)} there", "name one with --nodes")
