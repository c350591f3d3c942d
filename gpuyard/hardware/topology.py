"""How near GPUs of one node are to each other, and which of the free ones to take together.

Stands for NVIDIA's go-gpuallocator, with its scale. Rules:
- A pair counts by its best link: one NVLink/NVSwitch domain, one PCIe switch, one NUMA node, or none of these. Two
  GPUs of one domain whose link has failed are no NVLink pair; each still is one with the others.
- The set with the highest sum of pairs wins; among equals the one that leaves the best set behind, then the lowest
  indexes.
- GPUs at one place in the topology are alike, so sets are counted by place and not one by one: eight GPUs of one
  NVSwitch domain are one set, not seventy.
"""

import functools
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from gpuyard.hardware.gpus import GPU

NVLINK, SWITCH, NUMA, FAR = 100, 50, 20, 10


class Place(NamedTuple):
    """Where a GPU hangs in its node. None: on no NVLink domain, on no PCIe switch, that another GPU shares.

    A GPU with lost links is like no other: `gpu` says which it is, `lost` which it does not reach.
    """

    nvlink: int | None
    numa: int
    switch: int | None
    gpu: int | None = None
    lost: tuple[int, ...] = ()


class _Group(NamedTuple):
    """The free GPUs of one place: `must` are taken anyway, `may` in ascending order of index."""

    place: Place
    must: tuple[int, ...]
    may: tuple[int, ...]


def nearness(a: GPU, b: GPU) -> int:
    """The score of a pair: higher is nearer."""
    return _link(_place(a), _place(b))


def set_score(gpus: Sequence[GPU]) -> int:
    """The sum of the nearness of all pairs; 0 for a single GPU."""
    return _set_score(tuple(_place(gpu) for gpu in gpus))


def best_set(free: Sequence[GPU], count: int, must: Sequence[int] = ()) -> tuple[int, ...]:
    """The indexes, ascending, of the `count` GPUs among `free` that go best together.

    `must` are indexes that have to be among them. Empty when there are not enough.
    """
    return _best_set(_shared_places(free), count, tuple(sorted(must)))


@functools.lru_cache(maxsize=8192)
def _set_score(places: tuple[Place, ...]) -> int:
    return sum(_link(a, b) for a, b in combinations(places, 2))


def _place(gpu: GPU) -> Place:
    return Place(gpu.nvlink, gpu.numa, gpu.switch, *_cut(gpu))


def _cut(gpu: GPU) -> tuple[int | None, tuple[int, ...]]:
    return (gpu.index if gpu.lost_links else None), gpu.lost_links


def _shared_places(gpus: Sequence[GPU]) -> tuple[tuple[int, Place], ...]:
    """Index and place of each GPU; a link that leads to none of the others is left out, so that more are alike."""
    domains = Counter(gpu.nvlink for gpu in gpus)
    switches = Counter((gpu.numa, gpu.switch) for gpu in gpus)
    return tuple(
        (
            gpu.index,
            Place(
                gpu.nvlink if domains[gpu.nvlink] > 1 else None,
                gpu.numa,
                gpu.switch if switches[gpu.numa, gpu.switch] > 1 else None,
                *_cut(gpu),
            ),
        )
        for gpu in sorted(gpus, key=lambda gpu: gpu.index)
    )


def _link(a: Place, b: Place) -> int:
    if a.nvlink is not None and a.nvlink == b.nvlink and a.gpu not in b.lost and b.gpu not in a.lost:
        return NVLINK
    if a.numa != b.numa:
        return FAR
    return SWITCH if a.switch is not None and a.switch == b.switch else NUMA


def linked_sets(gpus: Sequence[GPU]) -> list[frozenset[int]]:
    """The indexes of one NVLink domain's GPUs, in the largest sets of which every pair is still linked."""
    cut = next((gpu for gpu in gpus if any(other.index in gpu.lost_links for other in gpus)), None)
    if cut is None:
        return [frozenset(gpu.index for gpu in gpus)]
    without = linked_sets([gpu for gpu in gpus if gpu is not cut])
    found = linked_sets([gpu for gpu in gpus if gpu.index not in cut.lost_links])
    return [*found, *(one for one in without if not any(one <= other for other in found))]


# Thousands of nodes are alike and ask the same again and again.
@functools.lru_cache(maxsize=8192)
def _best_set(where: tuple[tuple[int, Place], ...], count: int, must: tuple[int, ...]) -> tuple[int, ...]:
    groups = _groups(where, must)
    links = {(a.place, b.place): _link(a.place, b.place) for a in groups for b in groups}
    sizes = {group.place: len(group.must) + len(group.may) for group in groups}
    # What all pairs of one GPU are worth: the less a set's GPUs touch, the better the set that stays behind.
    touch = {a: sum(links[a, b] * size for b, size in sizes.items()) - links[a, a] for a in sizes}
    best: tuple[int, int, tuple[int, ...]] | None = None
    for counts in _counts(groups, count):
        taken = [(group, number) for group, number in zip(groups, counts, strict=True) if number]
        score = _pairs([(group.place, number) for group, number in taken], links)
        left = score - sum(touch[group.place] * number for group, number in taken)
        if best is not None and (score, left) < (-best[0], -best[1]):
            continue
        indexes = sorted(i for group, n in taken for i in (*group.must, *group.may)[:n])
        found = (-score, -left, tuple(indexes))
        best = found if best is None else min(best, found)
    return best[2] if best else ()


def _groups(where: Sequence[tuple[int, Place]], must: Sequence[int]) -> list[_Group]:
    places = dict.fromkeys(place for _, place in where)
    return [
        _Group(
            place,
            tuple(index for index, found in where if found == place and index in must),
            tuple(index for index, found in where if found == place and index not in must),
        )
        for place in places
    ]


def _counts(groups: Sequence[_Group], count: int) -> Iterator[tuple[int, ...]]:
    """Every way to take `count` GPUs: how many of each group."""
    if not groups:
        if count == 0:
            yield ()
        return
    first, rest = groups[0], groups[1:]
    for number in range(len(first.must), min(len(first.must) + len(first.may), count) + 1):
        for more in _counts(rest, count - number):
            yield (number, *more)


def _pairs(taken: Sequence[tuple[Place, int]], links: dict[tuple[Place, Place], int]) -> int:
    inside = sum(links[place, place] * number * (number - 1) // 2 for place, number in taken)
    return inside + sum(links[a, b] * m * n for (a, m), (b, n) in combinations(taken, 2))
