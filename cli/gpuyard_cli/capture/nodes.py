"""A node as a trace will have it, and how its devices count as parts of GPUs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from gpuyard import vocabulary
from gpuyard.hardware import mig
from gpuyard.placing import parts
from gpuyard.pods import amounts
from gpuyard.pods.amounts import CPU, MEMORY, MIB
from gpuyard.policies.workload import WHOLE
from gpuyard.writes import JSON
from gpuyard_cli.imported import gpus
from gpuyard_cli.imported.notes import Notes

_PROFILES: Final = {vocabulary.mig_resource(name): name for name in sorted(mig.profile_names())}


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """What pods can have there; memory in MiB, `model` of all its GPUs."""

    name: str
    cpu: int
    memory: int
    gpus: int
    model: str
    parts: Mapping[str, int] = field(default_factory=dict)
    """The thousandths of a GPU that one device is, by resource."""


def recorded(node: JSON, notes: Notes) -> NodeRecord:
    """The node as it is; what its labels leave open is noted. ValueError: it cannot be read."""
    try:
        name, offered = str(node["metadata"]["name"]), amounts.read(node["status"].get("allocatable"))
        inventory = gpus.inventory_of(node, notes)
    except (AttributeError, KeyError, TypeError, OverflowError) as error:
        raise ValueError(f"no node that can be read: {error!r}") from error
    models = sorted({gpu.model for gpu in inventory.gpus})
    if len(models) > 1:
        notes.add("GPUs of several models on a node count as those of the first", name)
    return NodeRecord(
        name=name,
        cpu=offered.get(CPU, 0),
        memory=offered.get(MEMORY, 0) // MIB,
        gpus=len(inventory.gpus),
        model=models[0] if models else "",
        parts={device.resource: max(1, parts.milli(device, inventory)) for device in inventory.devices()},
    )


def part(resource: str, node: NodeRecord | None) -> int:
    """The thousandths of a GPU that one device of the resource is, on this node; by the tables where it has none."""
    if node is not None and resource in node.parts:
        return node.parts[resource]
    name = profile(resource)
    boards = (mig.board_of(node.model) if node else None, *mig.BOARDS.values())
    found = ((board, board.profile(name)) for board in boards if board)
    sizes = (WHOLE * mine.memory_slices // board.memory_slices for board, mine in found if mine)
    return next(sizes, WHOLE)


def profile(resource: str) -> str:
    """The MIG profile that the resource stands for; empty where it is none."""
    return _PROFILES.get(resource, "")
