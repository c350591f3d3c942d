"""MIG: which instances a board can hold, where they may lie, and where best to put them.

Stands for the placement tables in NVIDIA's driver (`nvidia-smi mig -lgipp`). Rules, from data/mig.json, which keeps
the source and the confidence of every number:
- An instance occupies memory slices [start, start + size), and each profile has a list of legal starts.
- Instances do not overlap; compute slices add up to at most the board's; a profile has at most `max_instances`,
  and only one instance has the media engines (+me).
- Where an instance lies matters: 3g at 0 leaves room for three 1g and no 4g, 3g at 4 leaves room for four 1g or a 4g.
"""

import functools
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, NamedTuple

from gpuyard import vocabulary
from gpuyard.verdicts import Reason, Rejection


class Slot(NamedTuple):
    """An instance of `profile` on memory slices [start, start + size)."""

    profile: str
    start: int
    size: int

    def overlaps(self, other: "Slot") -> bool:
        return self.start < other.start + other.size and other.start < self.start + self.size


@dataclass(frozen=True, slots=True)
class Profile:
    """A GPU-instance profile. `memory_mib` and `multiprocessors` are 0 where no listing was seen."""

    name: str
    compute_slices: int
    memory_slices: int
    max_instances: int
    placements: tuple[tuple[int, int], ...]
    """(start, size) pairs, in memory slices."""
    memory_mib: int
    multiprocessors: int


@dataclass(frozen=True, slots=True)
class Board:
    """A GPU model's geometry; `product_names` as in the label nvidia.com/gpu.product."""

    key: str
    product_names: tuple[str, ...]
    memory_slices: int
    compute_slices: int
    profiles: tuple[Profile, ...]

    def profile(self, name: str) -> Profile | None:
        return next((profile for profile in self.profiles if profile.name == name), None)


def product_label(name: str) -> str:
    """`NVIDIA A100-SXM4-40GB` -> `NVIDIA-A100-SXM4-40GB`: a product name as GPU feature discovery writes it."""
    return re.sub(r"[^A-Za-z0-9\-_. ]", "", name).replace(" ", "-")


def board_of(model: str) -> Board | None:
    """The geometry of a GPU model, or None where it has no MIG. `model` is a product name or its label."""
    return _BY_PRODUCT.get(product_label(model))


def profile_names() -> frozenset[str]:
    """Every profile of every board."""
    return _PROFILE_NAMES


def managed_resources() -> tuple[str, ...]:
    """Every resource name that an extender must manage, sorted: kube-scheduler takes no wildcard."""
    profiles = (vocabulary.mig_resource(name) for name in _PROFILE_NAMES)
    return tuple(sorted({vocabulary.GPU, vocabulary.GPU_SHARED, *profiles}))


def instance_id(board: Board, start: int, size: int) -> int:
    """The GPU-instance id: positions numbered like a binary tree, level by level from the whole board."""
    return board.memory_slices // size - 1 + start // size


def legal(board: Board, placed: Sequence[tuple[str, int, int]]) -> bool:
    """Whether the board can hold these instances, (profile, start, size) each, at one time."""
    slots = [Slot(*slot) for slot in placed]
    return (
        all(_allowed(board, slot) for slot in slots)
        and not any(one.overlaps(other) for i, one in enumerate(slots) for other in slots[:i])
        and _within_limits(board, slots)
    )


def place_all(board: Board, profiles: Sequence[str]) -> tuple[Slot, ...] | Rejection:
    """Where to put instances of these profiles on an empty board, by start.

    Of all legal layouts the one that leaves the most room for large instances, then the lowest starts.
    """
    unknown = sorted(name for name in set(profiles) if board.profile(name) is None)
    if unknown:
        return Rejection("", Reason.INVALID_REQUEST, f"{board.key} has no MIG profile {', '.join(unknown)}")
    layout = _best_layout(board.key, tuple(sorted(profiles)))
    if layout is None:
        wanted = ", ".join(f"{count} x {name}" for name, count in sorted(Counter(profiles).items()))
        return Rejection("", Reason.NO_MIG_PLACEMENT, f"{board.key} cannot hold {wanted} at one time")
    return layout


def room(board: Board, placed: Sequence[tuple[str, int, int]]) -> tuple[int, ...]:
    """How many places are left for each size of instance, largest first: compare to keep the largest holes."""
    slots = [Slot(*slot) for slot in placed]
    shapes = sorted({(p.memory_slices, p.compute_slices, p.placements) for p in board.profiles}, reverse=True)
    return tuple(
        sum(not any(Slot("", *place).overlaps(slot) for slot in slots) for place in places)
        for _, _, places in shapes
    )


@functools.lru_cache(maxsize=4096)
def _best_layout(key: str, profiles: tuple[str, ...]) -> tuple[Slot, ...] | None:
    board = _BY_KEY[key]
    wanted = [profile for name in profiles if (profile := board.profile(name))]
    wanted.sort(key=lambda profile: (-profile.memory_slices, profile.name))
    layouts = {tuple(sorted(layout, key=lambda slot: slot.start)) for layout in _layouts(board, wanted, ())}
    if not layouts:
        return None
    return min(layouts, key=lambda layout: (tuple(-left for left in room(board, layout)), layout))


def _layouts(board: Board, wanted: Sequence[Profile], placed: tuple[Slot, ...]) -> Iterator[tuple[Slot, ...]]:
    """Every legal way to add `wanted` to `placed`; equal profiles in ascending order only."""
    if not wanted:
        if _within_limits(board, placed):
            yield placed
        return
    profile, *rest = wanted
    for start, size in profile.placements:
        slot = Slot(profile.name, start, size)
        ascending = not placed or placed[-1].profile != slot.profile or placed[-1].start < slot.start
        if ascending and not any(slot.overlaps(other) for other in placed):
            yield from _layouts(board, rest, (*placed, slot))


def _allowed(board: Board, slot: Slot) -> bool:
    profile = board.profile(slot.profile)
    return profile is not None and (slot.start, slot.size) in profile.placements


def _within_limits(board: Board, slots: Sequence[Slot]) -> bool:
    counts = Counter(slot.profile for slot in slots)
    found = [(profile, counts[profile.name]) for profile in board.profiles if profile.name in counts]
    engines = sum("+me" in slot.profile for slot in slots)
    return (
        sum(profile.compute_slices * count for profile, count in found) <= board.compute_slices
        and all(count <= profile.max_instances for profile, count in found)
        and engines <= 1  # the JPEG and OFA engines exist once
    )


def _profile(found: dict[str, Any]) -> Profile:
    return Profile(
        name=found["name"],
        compute_slices=found["compute_slices"],
        memory_slices=found["memory_slices"],
        max_instances=found["max_instances"],
        placements=tuple((start, found["memory_slices"]) for start in found["starts"]),
        memory_mib=found.get("memory_mib", 0),
        multiprocessors=found.get("sm", 0),
    )


def _load() -> tuple[Board, ...]:
    """The one file read of this package: the tables are data with sources, and part of the code."""
    document = json.loads(resources.files("gpuyard").joinpath("data/mig.json").read_text("utf-8"))
    return tuple(
        Board(
            key=found["key"],
            product_names=tuple(product_label(name) for name in found["product_names"]),
            memory_slices=found["memory_slices"],
            compute_slices=found["compute_slices"],
            profiles=tuple(_profile(profile) for profile in found["profiles"]),
        )
        for found in document["boards"]
    )


BOARDS = _load()
_BY_KEY = {board.key: board for board in BOARDS}
_BY_PRODUCT = {name: board for board in BOARDS for name in board.product_names}
_PROFILE_NAMES = frozenset(profile.name for board in BOARDS for profile in board.profiles)
