"""The JSON that passes between components in annotations: canonical when written, checked when read.

Every document carries `"v": 1`. A reader ignores what it does not know and gets None for what it cannot use:
content of an annotation is somebody else's data and never crashes a component.
"""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from gpuyard.hardware.gpus import GPU, Instance
from gpuyard.hardware.inventory import Inventory, MigStrategy, Sharing, SharingMode

MOST_DEVICES = 100_000
"""Devices that an inventory may stand for: far beyond any node, far below what would exhaust a reader's memory."""
MOST_SLICES = 64
"""Memory slices of a GPU, which readers list one by one: several times what any board of the MIG tables has."""

Allocation = Mapping[str, Mapping[str, tuple[str, ...]]]
"""container -> resource -> device ids."""


def write_allocation(allocation: Allocation) -> str:
    """The text of the annotation gpuyard.io/allocation."""
    return _canonical({"containers": {name: dict(held) for name, held in allocation.items()}})


def read_allocation(text: str | None) -> Allocation | None:
    """The allocation in an annotation; None when there is none or it is malformed."""
    return allocation_of(_document(text).get("containers"))


def allocation_of(containers: Any) -> Allocation | None:
    """The allocation in a decoded document; None when it is none."""
    if not isinstance(containers, dict):
        return None
    found = {name: _held(held) for name, held in containers.items()}
    return (
        None if None in found.values() else {name: held for name, held in found.items() if held is not None}
    )


def ids(allocation: Allocation) -> frozenset[str]:
    """All device ids of an allocation."""
    return frozenset(found for held in allocation.values() for given in held.values() for found in given)


def write_inventory(inventory: Inventory) -> str:
    """The text of the annotation gpuyard.io/inventory."""
    return _canonical(
        {
            "fake": True,
            "gpus": [_gpu_document(gpu) for gpu in inventory.gpus],
            "migStrategy": inventory.mig_strategy.value,
            "sharing": _sharing_document(inventory.sharing),
        }
    )


def read_inventory(text: str | None) -> Inventory | None:
    """The inventory in an annotation; None when there is none or it is malformed."""
    document = _document(text)
    if not document:
        return None
    try:
        return _inventory(document)
    except (KeyError, TypeError, ValueError):
        return None


def _inventory(document: Mapping[str, Any]) -> Inventory:
    gpus, sharing = document["gpus"], _sharing(document["sharing"])
    counts = [sharing.replicas, *(8 * replicas for _, replicas in sharing.instances)]
    if min(counts) < 1 or len(gpus) * max(counts) > MOST_DEVICES:
        raise ValueError(f"{len(gpus)} GPUs cannot be shared {max(counts)} times")
    return Inventory(
        gpus=_mutual([_gpu(found) for found in gpus]),
        sharing=sharing,
        mig_strategy=MigStrategy(document["migStrategy"]),
    )


def _sharing_document(sharing: Sharing) -> dict[str, Any]:
    # As with lost links: a reader of the version before finds nothing new where only GPUs are shared.
    instances = {"instances": dict(sharing.instances)} if sharing.instances else {}
    written = {"mode": sharing.mode.value, "replicas": sharing.replicas, "renamed": sharing.renamed}
    return written | instances


def _sharing(document: Mapping[str, Any]) -> Sharing:
    shared = dict(document["instances"]) if "instances" in document else {}
    instances = {_text(name): _whole(count) for name, count in shared.items()}
    return Sharing(
        SharingMode(document["mode"]),
        _whole(document["replicas"]),
        _truth(document["renamed"]),
        tuple(sorted(instances.items())),
    )


def _gpu_document(gpu: GPU) -> dict[str, Any]:
    # Readers of the version before do not know of lost links: where there are none, nothing is new.
    lost = {"lostLinks": list(gpu.lost_links)} if gpu.lost_links else {}
    return {
        **lost,
        "index": gpu.index,
        "uuid": gpu.uuid,
        "model": gpu.model,
        "memoryMiB": gpu.memory_mib,
        "numa": gpu.numa,
        "switch": gpu.switch,
        "nvlink": gpu.nvlink,
        "healthy": gpu.healthy,
        "migEnabled": gpu.mig_enabled,
        "instances": [
            {"profile": i.profile, "start": i.start, "size": i.size, "uuid": i.uuid} for i in gpu.instances
        ],
    }


def _gpu(document: Mapping[str, Any]) -> GPU:
    return GPU(
        index=_whole(document["index"]),
        uuid=_text(document["uuid"]),
        model=_text(document["model"]),
        memory_mib=_whole(document["memoryMiB"]),
        numa=_whole(document["numa"]),
        switch=_whole(document["switch"]),
        nvlink=None if document["nvlink"] is None else _whole(document["nvlink"]),
        healthy=_truth(document["healthy"]),
        mig_enabled=_truth(document["migEnabled"]),
        instances=tuple(_instance(found) for found in document["instances"]),
        lost_links=tuple(_whole(index) for index in document.get("lostLinks", ())),
    )


def _mutual(gpus: Sequence[GPU]) -> tuple[GPU, ...]:
    """A link that one end says to be lost is lost for both: tools read it from either. None leads to itself."""
    if not any(gpu.lost_links for gpu in gpus):
        return tuple(gpus)
    lost = {gpu.index: set(gpu.lost_links) - {gpu.index} for gpu in gpus}
    for gpu in gpus:
        for other in lost[gpu.index] & lost.keys():
            lost[other].add(gpu.index)
    return tuple(dataclasses.replace(gpu, lost_links=tuple(sorted(lost[gpu.index]))) for gpu in gpus)


def _instance(document: Mapping[str, Any]) -> Instance:
    start, size = _whole(document["start"]), _whole(document["size"])
    if not 0 <= start < start + size <= MOST_SLICES:
        raise ValueError(f"no GPU has slices {start} to {start + size}")
    return Instance(_text(document["profile"]), start, size, _text(document["uuid"]))


def _canonical(content: dict[str, Any]) -> str:
    return json.dumps({"v": 1, **content}, sort_keys=True, separators=(",", ":"))


def _document(text: str | None) -> dict[str, Any]:
    """The decoded document; empty when it is none of ours or of a version that is not known."""
    try:
        document = orjson.loads(text or "")
    except orjson.JSONDecodeError:
        return {}
    return document if isinstance(document, dict) and document.get("v") == 1 else {}


def _held(content: Any) -> dict[str, tuple[str, ...]] | None:
    if not isinstance(content, dict) or not all(isinstance(ids, list) for ids in content.values()):
        return None
    if not all(isinstance(found, str) for ids in content.values() for found in ids):
        return None
    return {resource: tuple(ids) for resource, ids in content.items()}


def _whole(content: Any) -> int:
    if isinstance(content, bool) or not isinstance(content, int):
        raise TypeError(f"not a whole number: {content!r}")
    return content


def _text(content: Any) -> str:
    if not isinstance(content, str):
        raise TypeError(f"not a text: {content!r}")
    return content


def _truth(content: Any) -> bool:
    if not isinstance(content, bool):
        raise TypeError(f"not true or false: {content!r}")
    return content
