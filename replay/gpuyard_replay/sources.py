"""A trace as the command line names it: files beside each other, an order or a seed, and how far to go."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpuyard.policies.workload import WHOLE
from gpuyard_replay import additions, arrivals, traces
from gpuyard_replay.replaying import Scene
from gpuyard_replay.traces import InvalidTraceError, TraceNode, TracePod

_NODE_FILES: Final = ("nodes.csv", "openb_node_list_gpu_node.csv")


@dataclass(frozen=True, slots=True)
class Source:
    """Where a trace is. `until`: arrivals ask for so many percent of all GPUs."""

    trace: Path
    nodes: Path | None = None
    until: int = 130
    added: tuple[str, ...] = ()
    """More nodes, such as `2xdgx-h100`: for the pods that come without them."""

    @property
    def name(self) -> str:
        return self.trace.stem.removeprefix("openb_pod_list_")


def drawn(source: Source, seed: int) -> Scene:
    """The trace with pods in an order that is drawn."""
    nodes, pods = read(source)
    came, ranks = arrivals.draw(pods, nodes, seed, limit(source, nodes))
    return enlarged(Scene(nodes, ranks, came, pods, seed), source)


def ordered(source: Source, order: Path, seed: int) -> Scene:
    """The trace with pods in the order of a file."""
    nodes, pods = read(source)
    came, ranks = arrivals.ordered(traces.read_order(order), pods, nodes)
    return enlarged(Scene(nodes, ranks, came, pods, seed), source)


def enlarged(scene: Scene, source: Source) -> Scene:
    """The same scene with the nodes that the source adds, which are taken last of equally good ones."""
    added = additions.parsed(source.added, scene.nodes)
    if not added:
        return scene
    ranks = [*scene.ranks, *range(len(scene.nodes), len(scene.nodes) + len(added))]
    return dataclasses.replace(scene, nodes=[*scene.nodes, *added], ranks=ranks)


def limit(source: Source, nodes: Sequence[TraceNode]) -> int:
    """How many GPU thousandths arrivals ask for in all."""
    return sum(node.gpus for node in nodes) * WHOLE * source.until // 100


def read(source: Source) -> tuple[tuple[TraceNode, ...], tuple[TracePod, ...]]:
    """The nodes and pods of the files."""
    pods = traces.read_pods(source.trace)
    return traces.read_nodes(source.nodes or _beside(source.trace)), pods


def beside(trace: Path) -> Path:
    """The node file that belongs to this file of pods alone."""
    return trace.with_name(f"{trace.stem}-nodes.csv")


def _beside(trace: Path) -> Path:
    for name in (beside(trace).name, *_NODE_FILES):
        if (trace.parent / name).is_file():
            return trace.parent / name
    raise InvalidTraceError(trace.parent, f"no {' or '.join(_NODE_FILES)} there", "name one with --nodes")
