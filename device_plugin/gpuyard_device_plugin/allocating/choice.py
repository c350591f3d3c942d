"""Which of the devices on offer to prefer.

Stands for the allocation policies of NVIDIA's plugin (best-effort, distributed). Rules, in this order:
- what the kubelet insists on, then what was planned: of shares, each of that GPU is as good as the one planned;
- whole GPUs and MIG devices: as the extender would choose (`gpuyard.placing.choice`);
- shares: from the GPU or instance of which the fewest are held, one after the other; ties by index.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from gpuyard.hardware.inventory import Device
from gpuyard.placing.choice import choose, queues_of
from gpuyard_device_plugin.devices.devices import DeviceTable, Occupied


@dataclass(frozen=True, slots=True)
class Offer:
    """One GetPreferredAllocation: choose `size` of `available` ids, `must` among them."""

    resource: str
    available: tuple[str, ...]
    must: tuple[str, ...]
    size: int


def prefer(
    table: DeviceTable, occupied: Occupied, offer: Offer, planned: Sequence[str], elsewhere: Collection[str]
) -> tuple[str, ...]:
    """The preferred ids; fewer than asked for when the rest is held by others.

    `planned` are the ids of the pod's own plan; `elsewhere` those of plans that are still open: they are taken only
    when there is no other way.
    """
    must = table.find(offer.resource, offer.must)
    offered = table.find(offer.resource, set(offer.available) - set(offer.must))
    free = [device for device in offered if device.healthy and not occupied.rules_out(device)]
    wanted = [device for device in free if device.id in planned]
    lost = set(planned) - {device.id for device in wanted}
    reserved = Occupied(table, elsewhere)
    spare = [device for device in free if device not in wanted and not reserved.rules_out(device)]
    fixed = [*must, *wanted, *_alike(table, lost, spare)][: offer.size]
    rest = [device for device in free if device not in fixed]
    spare = [device for device in spare if device not in fixed]
    lacking = offer.size - len(fixed)
    chosen = _best(table, occupied, fixed, spare if len(spare) >= lacking else rest, lacking)
    return tuple(device.id for device in [*fixed, *chosen])


def _alike(table: DeviceTable, lost: Collection[str], spare: Sequence[Device]) -> Sequence[Device]:
    """For each share that was planned and is lost, as far as they go, another one of its GPU or instance."""
    wanted = Counter(table.by_id[found].place for found in lost if found in table.by_id)
    alike = list[Device]()
    for device in spare:
        if device.replica is not None and wanted[device.place] > 0:
            wanted[device.place] -= 1
            alike.append(device)
    return alike


def _best(
    table: DeviceTable, occupied: Occupied, fixed: Sequence[Device], free: Sequence[Device], count: int
) -> Sequence[Device]:
    """`count` of the free devices, or as many as there can be at one time."""
    if not free or not count:
        return ()
    if all(device.replica is not None for device in free):
        return _distributed(table, occupied, fixed, free, count)
    best = choose(table.inventory, [*fixed, *free], fixed, occupied.devices, len(fixed) + count)
    return [device for device in best if device not in fixed]


def _distributed(
    table: DeviceTable, occupied: Occupied, fixed: Sequence[Device], free: Sequence[Device], count: int
) -> Sequence[Device]:
    held = occupied.shares(table) + Counter(device.place for device in fixed)
    queues = queues_of(free, ())
    order = [(held[place], place) for place in queues]
    heapify(order)
    chosen: list[Device] = []
    while order and len(chosen) < count:
        shares, place = heappop(order)
        chosen.append(queues[place].pop())
        if queues[place]:
            heappush(order, (shares + 1, place))
    return chosen
