"""MIG instances that come into being where a pod is put, and go with it: dynamic geometry.

Stands for the plugin's `dynamic` mode on the placement tables of `gpuyard.hardware.mig`. All rules take the fullest
GPU that has a legal place, as the extender does; they differ in which place they take there:

    pack    the lowest start slice
    holes   the one that leaves the most room for large instances (`mig.room`): the extender's rule
    random  any, the same for a seed

Law: what lies on one GPU is legal at any moment (`mig.legal`). GPUs of models without MIG are left out.
"""

import functools
import random
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

from gpuyard.hardware import mig
from gpuyard.hardware.mig import Board, Slot
from gpuyard.policies.workload import WHOLE
from gpuyard_replay.replaying import Scene
from gpuyard_replay.traces import InvalidTraceError, TracePod

Layout = tuple[Slot, ...]
"""The instances of one GPU, by start."""
Rule = Callable[[Board, Layout, Sequence[Slot], random.Random], Slot]


def _pack(_board: Board, _layout: Layout, legal: Sequence[Slot], _generator: random.Random) -> Slot:
    return legal[0]


def _holes(board: Board, layout: Layout, legal: Sequence[Slot], _generator: random.Random) -> Slot:
    return max(legal, key=lambda slot: mig.room(board, [found.span for found in (*layout, slot)]))


def _random(_board: Board, _layout: Layout, legal: Sequence[Slot], generator: random.Random) -> Slot:
    return generator.choice(legal)


RULES: Final = {"pack": _pack, "holes": _holes, "random": _random}


@dataclass(frozen=True, slots=True)
class MigSeat:
    """An instance on a GPU, of all GPUs of the fleet; None for a pod that has only CPU and memory, on `node`."""

    node: int
    gpu: int
    slot: Slot | None
    pod: TracePod


class MigPlaces:
    """`places.Places` on GPUs that are divided as pods come and go."""

    def __init__(self, scene: Scene, rule: Rule) -> None:
        self._rule, self._random = rule, random.Random(scene.seed)
        self._cpu = [node.cpu for node in scene.nodes]
        self._memory = [node.memory for node in scene.nodes]
        boards = [(row, mig.board_of(node.model), node.gpus) for row, node in enumerate(scene.nodes)]
        self._gpus = [(row, board) for row, board, gpus in boards if board for _ in range(gpus)]
        self._layouts: list[Layout] = [() for _ in self._gpus]
        self._profiles = tuple(sorted(Counter(p.profile for p in scene.known if p.profile).items()))
        self.capacity = WHOLE * len(self._gpus)
        _check(scene, {board.key: board for _, board in self._gpus}.values())

    def take(self, pod: TracePod) -> MigSeat | None:
        seat = self._seat(pod)
        if seat is not None:
            self._book(seat, -1)
            if seat.slot is not None:
                found = (*self._layouts[seat.gpu], seat.slot)
                self._layouts[seat.gpu] = tuple(sorted(found, key=lambda slot: slot.start))
        return seat

    def leave(self, seat: MigSeat) -> None:
        self._book(seat, 1)
        if seat.slot is not None:
            self._layouts[seat.gpu] = tuple(slot for slot in self._layouts[seat.gpu] if slot != seat.slot)

    def lost(self) -> int:
        found = zip(self._gpus, self._layouts, strict=True)
        return sum(_lost(board.key, layout, self._profiles) for (_, board), layout in found)

    def _seat(self, pod: TracePod) -> MigSeat | None:
        if not pod.profile:
            node = next((row for row in range(len(self._cpu)) if self._has_room(row, pod)), None)
            return None if node is None else MigSeat(node, 0, None, pod)
        gpus = [gpu for gpu in range(len(self._gpus)) if self._takes(gpu, pod)]
        if not gpus:
            return None
        gpu = max(gpus, key=lambda gpu: sum(slot.size for slot in self._layouts[gpu]))
        (row, board), layout = self._gpus[gpu], self._layouts[gpu]
        slot = self._rule(board, layout, _legal(board.key, layout, pod.profile), self._random)
        return MigSeat(row, gpu, slot, pod)

    def _takes(self, gpu: int, pod: TracePod) -> bool:
        row, board = self._gpus[gpu]
        return bool(_legal(board.key, self._layouts[gpu], pod.profile)) and self._has_room(row, pod)

    def _has_room(self, row: int, pod: TracePod) -> bool:
        return self._cpu[row] >= pod.cpu and self._memory[row] >= pod.memory

    def _book(self, seat: MigSeat, sign: int) -> None:
        self._cpu[seat.node] += sign * seat.pod.cpu
        self._memory[seat.node] += sign * seat.pod.memory


@functools.lru_cache(maxsize=65536)
def _legal(key: str, layout: Layout, name: str) -> tuple[Slot, ...]:
    """Where an instance of the profile may lie beside these, by start."""
    board = mig.BOARDS[key]
    profile = board.profile(name)
    slots = (Slot(name, start, size) for start, size in sorted(profile.placements)) if profile else ()
    return tuple(slot for slot in slots if mig.legal(board, [*layout, slot]))


@functools.lru_cache(maxsize=65536)
def _lost(key: str, layout: Layout, wanted: tuple[tuple[str, int], ...]) -> int:
    """The free thousandths of a GPU, times the part of all pods with GPUs that have no place there."""
    free = WHOLE - WHOLE * sum(slot.size for slot in layout) // mig.BOARDS[key].memory_slices
    blocked = sum(count for name, count in wanted if not _legal(key, layout, name))
    return free * blocked // max(1, sum(count for _, count in wanted))


def _check(scene: Scene, boards: Collection[Board]) -> None:
    """InvalidTraceError for an instance that no GPU of this fleet can be divided into."""
    for pod in scene.known:
        if pod.profile and not any(board.profile(pod.profile) for board in boards):
            raise InvalidTraceError(
                f"pod {pod.name}", f"no node has a GPU with {pod.profile}", "add nodes of a model that has it"
            )
