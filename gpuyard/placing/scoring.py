"""Nodes and pods as the columns that policies look at, and ranks for kube-scheduler.

Stands for the part of a score plugin that reads the snapshot. Law: what a policy is told of a node is what
`placement.place` would do there, whoever asks: the extender, a gang plan, a test.
"""

import functools
import zlib
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np

from gpuyard import vocabulary
from gpuyard.hardware.topology import set_score
from gpuyard.placing import holes, parts, placement
from gpuyard.placing.cluster import Node
from gpuyard.placing.occupancy import Layout, Occupancy
from gpuyard.pods import fit, requests
from gpuyard.pods.amounts import CPU, MEMORY, MIB
from gpuyard.pods.fit import Amounts, PodFit
from gpuyard.pods.requests import PodRequest, Want
from gpuyard.pods.wishes import Topology, Wishes
from gpuyard.policies.candidates import Candidates, Matrix, best
from gpuyard.policies.workload import WHOLE, Column, Shape, code
from gpuyard.verdicts import Rejection

_COUNTED: Final = 16
"""The most GPUs that a node without an inventory is believed to have: its count may be one of shares."""

_SCALARS: Final = 5
"""The fields of `State` before the GPUs."""


class Row(NamedTuple):
    """One node as a pod meets it. Counts are devices of the kinds that the pod asks for."""

    total: int
    free: int
    """Before the pod is placed."""
    requested: int
    """All three in thousandths where the pod says how much of a share it needs."""
    devices: int
    """How many devices it asks for."""
    milli: int = WHOLE
    """The part of a GPU that one of these devices is."""
    tag: int = 0
    """The pod's kind there (`Shape.tag`)."""
    link: int = 0
    """The sum of pairs (`topology.set_score`) of the GPUs that the pod would get."""
    link_lost: int = 0
    """The pairs between those GPUs and the free ones that stay behind: what the node's best sets lose."""
    holes_lost: int = 0
    """What it loses of its room for MIG instances (`holes.lost`), where the pod asks for some, or `holes.UNKNOWN`."""


class State(NamedTuple):
    """One node, whoever asks: what is left of CPU, memory in MiB and each GPU; `tags`: the kinds of its pods."""

    known: bool
    """Whether it has an inventory."""
    cpu: int
    memory: int
    tags: int
    model: int
    """The `workload.code` of its GPUs' model."""
    gpus: tuple[int, ...]


def state(node: Node) -> State:
    """The state of a node."""
    allocatable, used = node.fit.allocatable, node.used
    cpu = parts.bounded(allocatable.get(CPU, 0) - used.get(CPU, 0))
    memory = parts.bounded((allocatable.get(MEMORY, 0) - used.get(MEMORY, 0)) // MIB)
    model = code(parts.model(node))
    if node.occupancy is None:
        left = max(map(node.left, filter(requests.is_device_resource, allocatable)), default=0)
        return State(False, cpu, memory, 0, model, (WHOLE,) * min(left, _COUNTED))
    return State(True, cpu, memory, parts.tags(node), model, parts.free(node.occupancy))


def of_nodes(request: PodRequest, amounts: Amounts, nodes: Sequence[Node]) -> Candidates:
    """The columns for a pod that books `amounts`, on these nodes."""
    rows = np.array([row(request, node) for node in nodes], np.int64).reshape(-1, len(Row._fields))
    return candidates(amounts, request.uid, rows, stacked(map(state, nodes)))


def candidates(amounts: Amounts, seed: str, rows: Matrix, states: Matrix) -> Candidates:
    """The same from lines of `Row` and of `stacked`; what a policy draws depends on `seed`."""
    total, free, requested, devices, milli, tag, link, link_lost, holes_lost = rows.T
    known, cpu, memory, tags, model = states[:, :_SCALARS].T
    return Candidates(
        known=known,
        total=total,
        free=free,
        requested=requested,
        link=link,
        link_lost=link_lost,
        holes_lost=holes_lost,
        cpu=cpu,
        memory=memory,
        gpus=states[:, _SCALARS:],
        model=model,
        tags=tags,
        tag=tag,
        count=devices,
        milli=milli,
        asked_cpu=parts.bounded(amounts.get(CPU, 0)),
        asked_memory=parts.bounded(amounts.get(MEMORY, 0) // MIB),
        draw=zlib.crc32(seed.encode()),
    )


def stacked(states: Iterable[State], width: int = _SCALARS + 1) -> Matrix:
    """One line a state, as wide as the node with the most GPUs needs, but at least so wide."""
    flat = [(*scalars, *gpus) for *scalars, gpus in states]
    lines = np.zeros((len(flat), max(width, *map(len, flat), 0)), np.int64)
    for line, found in zip(lines, flat, strict=True):
        line[: len(found)] = found
    return lines


def best_first(by_name: Column, scores: Column, preferences: Column) -> Column:
    """The places of the rows in the order that kube-scheduler is told: by preference, then score, then `by_name`.

    No two are equal there, because it breaks ties at random. `by_name`: the place of each row in the order of names.
    """
    found: Column = np.lexsort((by_name, -best(scores), -preferences))
    return found


def row(request: PodRequest, node: Node) -> Row:
    """The row of a node, with the devices that `placement.place` gives."""
    if node.occupancy is not None:
        seen = node.occupancy.to(want.resource for want in request.wants)
        return _row(request.wants, request.wishes, seen)
    asked = request.totals
    count = sum(asked.values())
    total, left = sum(map(node.total, asked)), sum(map(node.left, asked))
    lost = holes.UNKNOWN if _is_of_instances(asked) else 0
    return Row(total, left, count, count, WHOLE if count else 0, Shape(0, WHOLE, count).tag, holes_lost=lost)


@functools.lru_cache(maxsize=32768)
def _row(wants: tuple[Want, ...], wishes: Wishes, occupancy: Occupancy) -> Row:
    asked = requests.totals(wants)
    count = sum(asked.values())
    free = [device for resource in asked for device in occupancy.free(resource)]
    offered = [device for resource in asked for device in occupancy.offered(resource)]
    milli = max((_part(occupancy.layout, resource) for resource in asked), default=0)
    counts = len(offered), len(free), count
    if wishes.limits and offered:
        milli = max(wishes.limits.on(gpu).milli for gpu in occupancy.inventory.gpus)
        counts = WHOLE * len(occupancy.inventory.gpus), sum(parts.free(occupancy)), milli
    taken = _taken(wants, wishes, occupancy)
    pairs = _pairs({occupancy.devices[i].gpu for i in taken}, occupancy, {d.gpu for d in free})
    lost = holes.lost(taken, occupancy) if _is_of_instances(asked) else 0
    return Row(*counts, count, milli, Shape(0, milli, count).tag, *pairs, lost)


def _is_of_instances(asked: Iterable[str]) -> bool:
    return any(resource.startswith(vocabulary.MIG_PREFIX) for resource in asked)


@functools.lru_cache(maxsize=4096)
def _part(layout: Layout, resource: str) -> int:
    """The largest part of a GPU that a device of the resource is."""
    found = (parts.milli(device, layout.inventory) for device in layout.offers.get(resource, ()))
    return max(found, default=0)


def preference(pod: PodFit, request: PodRequest, node: Node) -> int:
    """How much the pod would like to be there: by node affinity, then by whether its preferred topology is met."""
    likes = 2 * fit.preference(pod, node.fit)
    wishes = request.wishes
    if wishes.required or wishes.topology is Topology.BEST_EFFORT or node.occupancy is None:
        return likes
    taken = _taken(request.wants, wishes, node.occupancy)
    given = {node.occupancy.devices[i].gpu for i in taken}
    gpus = [gpu for gpu in node.occupancy.inventory.gpus if gpu.index in given]
    return likes + (bool(gpus) and wishes.met_by(gpus))


def _taken(wants: tuple[Want, ...], wishes: Wishes, occupancy: Occupancy) -> set[int]:
    """The numbers of the devices that the pod would get; empty where it does not fit."""
    allocation = placement.numbered(wants, wishes, occupancy)
    if isinstance(allocation, Rejection):
        return set()
    return {i for held in allocation.values() for numbers in held.values() for i in numbers}


def _pairs(taken: set[int], occupancy: Occupancy, free: set[int]) -> tuple[int, int]:
    """Score and lost score of the GPUs `taken` among those with something `free` (indexes)."""
    given = taken & free
    if not given:
        return 0, 0
    before = [gpu for gpu in occupancy.inventory.gpus if gpu.index in free]
    score = set_score([gpu for gpu in before if gpu.index in given])
    behind = set_score([gpu for gpu in before if gpu.index not in given])
    return score, set_score(before) - behind - score
