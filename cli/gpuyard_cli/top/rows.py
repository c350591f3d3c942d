"""Who has what of each GPU: nodes and holdings in, rows out.

Law: a GPU has as many free devices as a pod could get there, none when it is unhealthy; where instances are made on
demand these overlap, and memory slices are counted instead. What a pod has and no row can show is told beside them.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gpuyard.hardware.boards import board_of
from gpuyard.hardware.gpus import GPU
from gpuyard.hardware.inventory import Device, Inventory, MigStrategy
from gpuyard.placing import parts, room
from gpuyard.placing.occupancy import occupancy
from gpuyard.pods import limits
from gpuyard.pods.limits import Limits
from gpuyard_cli.top.reading import Holding, SeenNode

HELD, CUT, BLANK = "#", "-", "."
"""A memory slice that a pod has, one of an instance that nobody has, and one of no instance."""
_SLICES: Final = 8
"""Of a GPU whose model has no placement table: as many as most have."""


@dataclass(frozen=True, slots=True, order=True)
class Owner:
    """A pod, and `count` devices that it has.

    `kind`: their MIG profile, if any; of a stray the resource, or `gone` where the node has no such devices.
    """

    pod: str
    kind: str = ""
    count: int = 1
    planned: bool = False


@dataclass(frozen=True, slots=True)
class GpuRow:
    """One GPU; `slices` has a sign for each memory slice where it can be divided."""

    gpu: GPU
    xid: int | None
    free: int
    total: int
    slices: str
    owners: tuple[Owner, ...]
    left: Limits = limits.NONE
    """The thousandths and the memory that nobody uses."""


@dataclass(frozen=True, slots=True)
class CountRow:
    """A resource of a node of which only counts are known; `total` includes those that are `sick`."""

    resource: str
    free: int
    total: int
    sick: int
    owners: tuple[Owner, ...]


@dataclass(frozen=True, slots=True)
class NodeRow:
    """`strays` are pods with devices that the node does not have, or that nobody has named."""

    name: str
    marks: tuple[str, ...]
    gpus: tuple[GpuRow, ...] = ()
    counts: tuple[CountRow, ...] = ()
    strays: tuple[Owner, ...] = ()
    since: str = ""
    """When its inventory was last written."""


@dataclass(frozen=True, slots=True)
class View:
    """All of it. `waiting` pods ask for GPUs and have no node; `unreadable` objects are left out."""

    nodes: tuple[NodeRow, ...]
    waiting: int = 0
    unreadable: int = 0


def view(nodes: Iterable[SeenNode], holdings: Iterable[Holding], unreadable: int = 0) -> View:
    """Nodes by name, without those that have no GPUs."""
    by_node: defaultdict[str, list[Holding]] = defaultdict(list)
    for holding in holdings:
        by_node[holding.node].append(holding)
    rows = (_node(node, by_node[node.name]) for node in sorted(nodes, key=lambda node: node.name))
    shown = tuple(row for row in rows if row.gpus or row.counts or row.strays)
    return View(shown, len(by_node[""]), unreadable)


def _node(node: SeenNode, held: Sequence[Holding]) -> NodeRow:
    if node.inventory is None:
        return NodeRow(node.name, node.marks, counts=tuple(_counts(node, held)))
    devices = {device.id: device for device in node.inventory.devices()}
    gpus = tuple(_gpus(node, node.inventory, devices, held))
    return NodeRow(
        node.name, node.marks, gpus, strays=tuple(sorted(_strays(devices, held))), since=node.since
    )


def _gpus(
    node: SeenNode, inventory: Inventory, devices: Mapping[str, Device], held: Sequence[Holding]
) -> Iterator[GpuRow]:
    taken, owners = defaultdict[int, list[Device]](list), defaultdict[int, list[Owner]](list)
    for holding in held:
        for identity in (holding.told | holding.planned) & devices.keys():
            device = devices[identity]
            taken[device.gpu].append(device)
            owners[device.gpu].append(Owner(holding.pod, device.profile, planned=identity in holding.planned))
    owned = {found: holding.pod for holding in held for found in (holding.told | holding.planned)}
    now = occupancy(inventory, owned, {holding.pod: holding.limits for holding in held if holding.limits})
    total, left = Counter(device.gpu for device in now.devices), parts.left(now)
    idle = Counter(now.devices[i].gpu for i in room.open_to_all(now).idle if now.devices[i].healthy)
    for gpu in inventory.gpus:
        slices = _slices(gpu, inventory.mig_strategy, taken[gpu.index])
        free, of = idle[gpu.index], total[gpu.index]
        if slices and inventory.mig_strategy is MigStrategy.DYNAMIC:
            free, of = (len(slices) - slices.count(HELD)) * gpu.healthy, len(slices)
        who = _summed(owners[gpu.index])
        yield GpuRow(gpu, node.reports.xid(gpu.index), free, of, slices, who, left[gpu.index])


def _slices(gpu: GPU, strategy: MigStrategy, taken: Sequence[Device]) -> str:
    board = board_of(gpu.model)
    divided = board is not None if strategy is MigStrategy.DYNAMIC else gpu.mig_enabled
    if not divided or strategy is MigStrategy.NONE:
        return ""
    length = board.memory_slices if board else _SLICES
    cut = [(instance.start, instance.size) for instance in gpu.instances]
    held = [(device.start, device.size or length) for device in taken]
    return "".join(HELD if _in(held, n) else CUT if _in(cut, n) else BLANK for n in range(length))


def _in(places: Iterable[tuple[int, int]], slice_: int) -> bool:
    return any(start <= slice_ < start + size for start, size in places)


def _summed(owners: Iterable[Owner]) -> tuple[Owner, ...]:
    """Alike ones as one."""
    counts = Counter(owners)
    return tuple(sorted(Owner(o.pod, o.kind, count, o.planned) for o, count in counts.items()))


def _strays(devices: Mapping[str, Device], held: Iterable[Holding]) -> Iterator[Owner]:
    for holding in held:
        named = holding.told | holding.planned
        if lost := len(named - devices.keys()):
            yield Owner(holding.pod, "gone", lost)
        elif not named:
            yield from (Owner(holding.pod, kind, count) for kind, count in holding.asked.items())


def _counts(node: SeenNode, held: Sequence[Holding]) -> Iterator[CountRow]:
    asked = {kind for holding in held for kind in holding.asked}
    for kind in sorted({*node.offered, *node.sick, *asked}):
        offered, sick = node.offered.get(kind, 0), node.sick.get(kind, 0)
        owners = [Owner(each.pod, count=each.asked[kind]) for each in held if kind in each.asked]
        free = max(0, offered - sum(owner.count for owner in owners))
        yield CountRow(kind, free, offered + sick, sick, tuple(sorted(owners)))
