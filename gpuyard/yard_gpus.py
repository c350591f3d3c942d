"""The GPUs of one yard node, from the keys `gpus` and `mig` of its entry."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from gpuyard import yard_fields
from gpuyard.hardware import mig, models
from gpuyard.hardware.gpus import GPU, Instance, gpu_uuid, mig_uuid
from gpuyard.hardware.mig import Board
from gpuyard.verdicts import Rejection
from gpuyard.yard_fields import InvalidYardError

TOPOLOGIES = ("none", "numa-halves", "nvswitch")
MOST_GPUS = 1024
"""Of one node: far beyond any machine, far below what would exhaust memory."""
_LISTED_KEYS = ("index", "memoryMiB", "model", "numa", "nvlink", "switch")


def gpus_of(node: str, found: Any, field: str) -> tuple[GPU, ...]:
    """The GPUs of `node`, by index: a preset (model, count, topology) or a list of single GPUs."""
    if isinstance(found, list):
        gpus = [_listed(node, entry, i, f"{field}[{i}]") for i, entry in enumerate(found)]
        _refuse_twins([gpu.index for gpu in gpus], field)
        return tuple(sorted(gpus, key=lambda gpu: gpu.index))
    if found is None:
        return ()
    preset = yard_fields.mapping(found, field, ("model", "count", "topology"), ("model", "count"))
    model = _model(preset["model"], f"{field}.model")
    count = yard_fields.whole(preset["count"], f"{field}.count")
    if count > MOST_GPUS:
        raise InvalidYardError(f"{field}.count", f"{count} GPUs", f"give a node at most {MOST_GPUS}")
    topology = preset.get("topology", "none")
    if topology not in TOPOLOGIES:
        raise InvalidYardError(
            f"{field}.topology", f"{topology!r} is unknown", f"use {', '.join(TOPOLOGIES)}"
        )
    return tuple(_preset(node, model, index, count, topology) for index in range(count))


def with_instances(gpus: tuple[GPU, ...], found: Any, field: str) -> tuple[GPU, ...]:
    """The GPUs, some of them in MIG mode with the instances that the entries of `mig` name."""
    layouts: dict[int, tuple[GPU, str]] = {}
    for i, entry in enumerate(yard_fields.sequence(found, field)):
        where = f"{field}[{i}]"
        parts = yard_fields.mapping(entry, where, ("gpus", "instances"), ("gpus", "instances"))
        for index in yard_fields.sequence(parts["gpus"], f"{where}.gpus"):
            gpu = next((gpu for gpu in gpus if gpu.index == index and index is not True), None)
            if gpu is None or index in layouts:
                problem = "no such GPU" if gpu is None else "has a layout already"
                raise InvalidYardError(f"{where}.gpus", f"{index!r}: {problem}", "name each GPU's index once")
            layouts[gpu.index] = (_split(gpu, parts["instances"], f"{where}.instances"), where)
    return tuple(layouts[gpu.index][0] if gpu.index in layouts else gpu for gpu in gpus)


def _preset(node: str, model: models.Model, index: int, count: int, topology: str) -> GPU:
    half = 0 if topology == "none" or index < (count + 1) // 2 else 1
    nvlink = 0 if topology == "nvswitch" else None
    return GPU(index, gpu_uuid(node, index), model.product, model.memory_mib, half, half, nvlink)


def _listed(node: str, found: Any, position: int, field: str) -> GPU:
    entry = yard_fields.mapping(found, field, _LISTED_KEYS, ("model",))
    model = _model(entry["model"], f"{field}.model")

    def number(key: str, default: int) -> int:
        return yard_fields.whole(entry.get(key, default), f"{field}.{key}")

    index = number("index", position)
    return GPU(
        index=index,
        uuid=gpu_uuid(node, index),
        model=model.product,
        memory_mib=number("memoryMiB", model.memory_mib),
        numa=number("numa", 0),
        switch=number("switch", 0),
        nvlink=None if entry.get("nvlink") is None else number("nvlink", 0),
    )


def _model(found: Any, field: str) -> models.Model:
    model = models.model_of(yard_fields.text(found, field))
    if model is None:
        known = ", ".join(sorted(model.product for model in models.MODELS))
        raise InvalidYardError(field, f"{found!r} is not a known GPU model", f"use {known}")
    return model


def _split(gpu: GPU, found: Any, field: str) -> GPU:
    board = mig.board_of(gpu.model)
    if board is None:
        raise InvalidYardError(field, f"{gpu.model} has no MIG", "name GPUs of a model with MIG")
    counts = yard_fields.plain_mapping(found, field)
    profiles: list[str] = []
    for name, count in counts.items():
        if board.profile(name) is None:
            known = ", ".join(profile.name for profile in board.profiles)
            raise InvalidYardError(f"{field}.{name}", f"{gpu.model} has no such profile", f"use {known}")
        # More than the board's slices never fit: no need to write them all out.
        profiles += [name] * min(yard_fields.whole(count, f"{field}.{name}"), board.memory_slices + 1)
    slots = mig.place_all(board, profiles)
    if isinstance(slots, Rejection):
        raise InvalidYardError(field, slots.detail, "ask for fewer or smaller instances")
    instances = tuple(_instance(gpu, board, slot) for slot in slots)
    return dataclasses.replace(gpu, mig_enabled=True, instances=instances)


def _instance(gpu: GPU, board: Board, slot: mig.Slot) -> Instance:
    identity = mig_uuid(gpu.uuid, mig.instance_id(board, slot.start, slot.size))
    return Instance(slot.profile, slot.start, slot.size, identity)


def _refuse_twins(indexes: Sequence[int], field: str) -> None:
    twins = sorted({index for index in indexes if indexes.count(index) > 1})
    if twins:
        raise InvalidYardError(field, f"two GPUs have index {twins[0]}", "give each GPU its own index")
