"""MIG: which instances a board can hold, where they may lie, and where best to put them.

Stands for the placement tables in NVIDIA's driver (`nvidia-smi mig -lgipp`). Rules, over the tables in `boards`:
- An instance occupies memory slices [start, start + size), and each profile has a list of legal starts.
- Instances do not overlap, which also keeps their compute slices within the board's.
- A profile has at most `max_instances`, and only one instance has the media engines (+me).
- Where an instance lies matters: 3g at 0 leaves room for three 1g and no 4g, 3g at 4 leaves room for four 1g or a 4g.
"""

import functools
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gpuyard.hardware.boards import (
    BOARDS,
    Board,
    Profile,
    board_of,
    managed_resources,
    product_label,
    profile_names,
)
from gpuyard.verdicts import Reason, Rejection

__all__ = [
    "BOARDS",
    "Board",
    "Profile",
    "Slot",
    "board_of",
    "instance_id",
    "legal",
    "managed_resources",
    "place_all",
    "product_label",
    "profile_names",
    "room",
]


class Slot(NamedTuple):
    """An instance of `profile` on memory slices [start, start + size)."""

    profile: str
    start: int
    size: int

    @property
    def span(self) -> tuple[int, int]:
        return self.start, self.size

    def overlaps(self, other: "Slot") -> bool:
        return _overlap(self.span, other.span)


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


def room(board: Board, spans: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """How many places the (start, size) spans leave for each size of instance, largest first.

    Of two layouts the one with the greater room keeps the larger holes.
    """
    return _room(board.key, tuple(sorted(spans)))


@functools.lru_cache(maxsize=65536)
def _room(key: str, spans: tuple[tuple[int, int], ...]) -> tuple[int, ...]:
    profiles = BOARDS[key].profiles
    shapes = sorted({(p.memory_slices, p.compute_slices, p.placements) for p in profiles}, reverse=True)
    return tuple(
        sum(not any(_overlap(place, span) for span in spans) for place in places) for _, _, places in shapes
    )


@functools.lru_cache(maxsize=4096)
def _best_layout(key: str, profiles: tuple[str, ...]) -> tuple[Slot, ...] | None:
    board = BOARDS[key]
    wanted = [profile for name in profiles if (profile := board.profile(name))]
    wanted.sort(key=lambda profile: (-profile.memory_slices, profile.name))
    layouts = [tuple(sorted(layout, key=lambda slot: slot.start)) for layout in _layouts(board, wanted, ())]
    if not layouts:
        return None
    by_starts = sorted(layouts, key=lambda layout: [(slot.start, slot.profile) for slot in layout])
    return max(by_starts, key=lambda layout: room(board, [slot.span for slot in layout]))


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


def _overlap(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] < b[0] + b[1] and b[0] < a[0] + a[1]


def _allowed(board: Board, slot: Slot) -> bool:
    profile = board.profile(slot.profile)
    return profile is not None and (slot.start, slot.size) in profile.placements


def _within_limits(board: Board, slots: Sequence[Slot]) -> bool:
    counts = Counter(slot.profile for slot in slots)
    found = [(profile, counts[profile.name]) for profile in board.profiles if profile.name in counts]
    engines = sum("+me" in slot.profile for slot in slots)
    # The JPEG and OFA engines exist once.
    return engines <= 1 and all(count <= profile.max_instances for profile, count in found)
