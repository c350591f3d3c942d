"""MIG instances that are known by their number only, put on GPUs."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from gpuyard import vocabulary
from gpuyard.hardware import mig
from gpuyard.hardware.gpus import GPU, Instance, mig_uuid
from gpuyard.hardware.mig import Board
from gpuyard.verdicts import Rejection

_MOST_GPUS = 64
"""On one node."""


def wanted(product: str, single: str, capacity: Mapping[str, int]) -> Counter[str]:
    """Profile -> how many instances the node has; `single` is the one that nvidia.com/gpu stands for, if any.

    Empty where the product has no MIG that is known.
    """
    board = mig.board_of(product)
    if board is None:
        return Counter()
    resource = {profile.name: vocabulary.mig_resource(profile.name) for profile in board.profiles}
    if single:
        resource = {name: vocabulary.GPU for name, found in resource.items() if found.endswith(f"-{single}")}
    return Counter({name: count for name, found in resource.items() if (count := capacity.get(found, 0))})


def spread(product: str, instances: Counter[str], gpus: int) -> list[list[str]]:
    """The profiles of each GPU, on `gpus` of them or, where that is not known (0 or less), on as few as will do.

    Evenly where that goes; else each, the largest first, where it fits first. Empty when they do not fit.
    """
    board = mig.board_of(product)
    if board is None:
        return []
    for number in range(max(gpus, 1), max(gpus, _MOST_GPUS) + 1):
        found = _even(board, instances, number) or _first_fit(board, instances, number)
        if found or gpus > 0:
            return found
    return []


def divided(gpu: GPU, profiles: list[str]) -> GPU:
    """The GPU in MIG mode with instances of these profiles, which it can hold."""
    board = mig.board_of(gpu.model)
    slots = mig.place_all(board, profiles) if board is not None else ()
    if board is None or isinstance(slots, Rejection):
        return gpu
    instances = tuple(
        Instance(
            slot.profile,
            slot.start,
            slot.size,
            mig_uuid(gpu.uuid, mig.instance_id(board, slot.start, slot.size)),
        )
        for slot in slots
    )
    return replace(gpu, mig_enabled=True, instances=instances)


def _even(board: Board, instances: Counter[str], gpus: int) -> list[list[str]]:
    if any(count % gpus for count in instances.values()):
        return []
    one = [name for name, count in sorted(instances.items()) for _ in range(count // gpus)]
    return [one] * gpus if _fits(board, one) else []


def _first_fit(board: Board, instances: Counter[str], gpus: int) -> list[list[str]]:
    sizes = {profile.name: profile.memory_slices for profile in board.profiles}
    found: list[list[str]] = [[] for _ in range(gpus)]
    for name in sorted(instances.elements(), key=lambda name: (-sizes[name], name)):
        room = next((one for one in found if _fits(board, [*one, name])), None)
        if room is None:
            return []
        room.append(name)
    return found


def _fits(board: Board, profiles: list[str]) -> bool:
    return len(profiles) <= board.memory_slices and not isinstance(mig.place_all(board, profiles), Rejection)
