"""The section `sharing` of NVIDIA's config file: how many containers share a GPU, and how.

Stands for the Sharing types of NVIDIA's api/config/v1. As there, MPS wins where time-slicing is configured too,
`rename` counts for nothing, and `devices` is read and taken as "all". What a fake cannot honour is refused, never
half done: shares of MIG devices are not modelled.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gpuyard import vocabulary
from gpuyard.inventory import Sharing, SharingMode
from gpuyard_device_plugin.config_fields import InvalidConfigError, flag, mapping

_MODES: Final = (("mps", SharingMode.MPS), ("timeSlicing", SharingMode.TIME_SLICING))
_KEYS: Final = ("renameByDefault", "failRequestsGreaterThanOne", "resources")
_RESOURCE_KEYS: Final = ("name", "rename", "devices", "replicas")
_DEVICE: Final = re.compile(r"\d+(:\d+)?|(MIG-)?GPU-[-0-9a-f/]+|MIG-[-0-9a-f]+")


@dataclass(frozen=True, slots=True)
class Shares:
    """What the section says."""

    sharing: Sharing = Sharing()
    fail_requests_greater_than_one: bool = False
    """A container may ask for one share only."""


def parse(found: Any) -> Shares:
    """The decoded section; nothing means that GPUs are not shared. InvalidConfigError names field and remedy."""
    section = mapping(found, "sharing", [key for key, _ in _MODES])
    for key, mode in _MODES:
        if section.get(key) is not None:
            return _shared(section[key], f"sharing.{key}", mode)
    return Shares()


def _shared(found: Any, field: str, mode: SharingMode) -> Shares:
    settings = mapping(found, field, _KEYS)
    sharing = Sharing(
        mode,
        replicas=_replicas(settings.get("resources"), f"{field}.resources"),
        renamed=flag(settings, "renameByDefault", field, default=False),
    )
    # NVIDIA's default differs: an MPS client gets its part of one GPU and no more.
    alone = flag(settings, "failRequestsGreaterThanOne", field, default=mode is SharingMode.MPS)
    return Shares(sharing, alone)


def _replicas(found: Any, field: str) -> int:
    if not isinstance(found, list) or not found:
        raise InvalidConfigError(field, "no resources specified", f"list {vocabulary.GPU} with its replicas")
    if len(found) > 1:
        raise InvalidConfigError(field, f"{len(found)} resources", f"share {vocabulary.GPU} only, once")
    entry = mapping(found[0], f"{field}[0]", _RESOURCE_KEYS)
    _require_gpu(entry.get("name"), f"{field}[0].name")
    _check_devices(entry, f"{field}[0].devices")
    replicas = entry.get("replicas")
    if isinstance(replicas, bool) or not isinstance(replicas, int) or replicas < 2:
        remedy = "a whole number of at least 2 is needed"
        raise InvalidConfigError(f"{field}[0].replicas", f"{replicas!r} is not a number of shares", remedy)
    return replicas


def _require_gpu(found: Any, field: str) -> None:
    if not found or not isinstance(found, str):
        raise InvalidConfigError(field, "the name is missing", f"write {vocabulary.GPU}")
    # NVIDIA puts its prefix before a name that lacks it.
    if found.removeprefix("nvidia.com/") != vocabulary.GPU.removeprefix("nvidia.com/"):
        raise InvalidConfigError(
            field, f"shares of {found!r} are not modelled", f"share {vocabulary.GPU} only"
        )


def _check_devices(entry: Mapping[str, Any], field: str) -> None:
    """ "all", how many, or which: read as NVIDIA reads it, which then shares all of them."""
    found = entry.get("devices", "all")
    counted = isinstance(found, int) and not isinstance(found, bool) and found > 0
    listed = isinstance(found, list) and found and all(_DEVICE.fullmatch(str(item)) for item in found)
    if not (found == "all" or counted or listed):
        remedy = 'write "all", a number above 0, or a list of indexes and UUIDs'
        raise InvalidConfigError(field, f"{found!r} names no devices", remedy)
