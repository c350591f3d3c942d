"""Which of the free devices a container gets.

Stands for the GetPreferredAllocation policies of NVIDIA's plugin. Rules, by kind of device:
- whole GPUs: the set that goes best together (`topology`);
- shares: of distinct GPUs or instances, the fullest first, so that others stay free;
- MIG instances: the fullest GPU first, and there the places that together leave the largest holes (`mig.room`).
"""

from collections import Counter
from collections.abc import Container, Sequence
from heapq import heapify, heappop, heappush
from itertools import combinations

from gpuyard.hardware import mig, topology
from gpuyard.hardware.inventory import Device, Inventory


def choose(
    inventory: Inventory, free: Sequence[Device], must: Sequence[Device], owned: Sequence[Device], count: int
) -> tuple[Device, ...]:
    """`count` devices out of `free`, all of `must` among them, by GPU and place; fewer when they run out.

    `owned` are the devices that have owners already, of every resource.
    """
    if any(device.replica is not None for device in free):
        chosen = _shares(free, must, count)
    elif any(device.size for device in free):
        chosen = _instances(inventory, free, must, owned, count)
    else:
        chosen = _whole(inventory, free, must, count)
    return tuple(sorted(chosen, key=lambda device: (device.gpu, device.start, device.replica or 0)))


def _whole(
    inventory: Inventory, free: Sequence[Device], must: Sequence[Device], count: int
) -> Sequence[Device]:
    indexes = {device.gpu for device in free}
    gpus = [gpu for gpu in inventory.gpus if gpu.index in indexes]
    taken = topology.best_set(gpus, min(count, len(free)), [device.gpu for device in must])
    return [device for device in free if device.gpu in taken]


def _shares(free: Sequence[Device], must: Sequence[Device], count: int) -> Sequence[Device]:
    """One share after the other, from the place of which the fewest were taken, then the one with the fewest free."""
    offered = Counter(device.place for device in free)
    mine = Counter(device.place for device in must)
    queues = queues_of(free, {device.id for device in must})
    # A heap: a pod may ask for thousands of shares, and whoever waits for the answer waits for all pods.
    order = [(mine[place], offered[place], place) for place in queues]
    heapify(order)
    taken = list(must)
    while order and len(taken) < count:
        held, shares, place = heappop(order)
        taken.append(queues[place].pop())
        if queues[place]:
            heappush(order, (held + 1, shares, place))
    return taken


def queues_of(shares: Sequence[Device], without: Container[str]) -> dict[tuple[int, int], list[Device]]:
    """Place -> its shares other than those ids, the lowest replica last, where `pop` takes it."""
    queues: dict[tuple[int, int], list[Device]] = {}
    for device in sorted(shares, key=lambda share: -(share.replica or 0)):
        if device.id not in without:
            queues.setdefault(device.place, []).append(device)
    return queues


def _instances(
    inventory: Inventory, free: Sequence[Device], must: Sequence[Device], owned: Sequence[Device], count: int
) -> Sequence[Device]:
    """GPU by GPU, the fullest first: as many as are wanted and fit there, placed together."""
    taken = list(must)
    slices = Counter[int]()
    for device in (*owned, *taken):
        slices[device.gpu] += device.size
    boards = {gpu.index: mig.board_of(gpu.model) for gpu in inventory.gpus}
    for gpu in sorted({device.gpu for device in free}, key=lambda index: (-slices[index], index)):
        if len(taken) >= count:
            break
        held = [device for device in (*owned, *taken) if device.gpu == gpu]
        here = [d for d in free if d.gpu == gpu and not any(d.overlaps(other) for other in taken)]
        taken += _together(boards[gpu], held, here, count - len(taken))
    return taken


def _together(
    board: mig.Board | None, held: Sequence[Device], free: Sequence[Device], count: int
) -> Sequence[Device]:
    """Up to `count` instances of one GPU; of several choices the one with the greatest room, then the lowest."""

    def room(chosen: Sequence[Device]) -> tuple[int, ...]:
        return mig.room(board, [(d.start, d.size) for d in (*held, *chosen)]) if board else ()

    for size in range(min(count, len(free)), 0, -1):
        apart = [c for c in combinations(free, size) if not any(a.overlaps(b) for a, b in combinations(c, 2))]
        if apart:
            return max(apart, key=room)
    return ()
