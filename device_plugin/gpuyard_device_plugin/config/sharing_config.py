"""The section `sharing` of NVIDIA's config file: how many containers share a GPU, and how.

Stands for the Sharing types of NVIDIA's api/config/v1. As there, MPS wins where time-slicing is configured too and is
refused for MIG devices, `rename` counts for nothing, and `devices` is read and taken as "all": both are said.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gpuyard import vocabulary
from gpuyard.hardware import mig
from gpuyard.hardware.inventory import Sharing, SharingMode
from gpuyard_device_plugin.config.config_fields import InvalidConfigError, flag, mapping

_MODES: Final = (("mps", SharingMode.MPS), ("timeSlicing", SharingMode.TIME_SLICING))
_PREFIX: Final = "nvidia.com/"
_KEYS: Final = ("renameByDefault", "failRequestsGreaterThanOne", "resources")
_RESOURCE_KEYS: Final = ("name", "rename", "devices", "replicas")
_DEVICE: Final = re.compile(r"\d+(:\d+)?|(MIG-)?GPU-[-0-9a-f/]+|MIG-[-0-9a-f]+")


@dataclass(frozen=True, slots=True)
class Shares:
    """What the section says."""

    sharing: Sharing = Sharing()
    fail_requests_greater_than_one: bool = False
    """A container may ask for one share only."""
    ignored: tuple[str, ...] = ()
    """A line for each field that counts for nothing."""


def parse(found: Any) -> Shares:
    """The decoded section; nothing means that GPUs are not shared. InvalidConfigError names field and remedy."""
    section = mapping(found, "sharing", [key for key, _ in _MODES])
    for key, mode in _MODES:
        if section.get(key) is not None:
            return _shared(section[key], f"sharing.{key}", mode)
    return Shares()


def _shared(found: Any, field: str, mode: SharingMode) -> Shares:
    settings = mapping(found, field, _KEYS)
    renamed = flag(settings, "renameByDefault", field, default=False)
    entries = _entries(settings.get("resources"), f"{field}.resources")
    replicas = dict[str, int]()
    for where, entry in entries:
        name = _name(entry.get("name"), f"{where}.name", mode)
        if name in replicas:
            raise InvalidConfigError(f"{where}.name", f"{name} is there twice", "list each resource once")
        replicas[name] = _replicas(entry.get("replicas"), f"{where}.replicas")
    whole = replicas.pop(vocabulary.GPU, 1)
    sharing = Sharing(mode, whole, renamed, tuple(sorted(replicas.items())))
    # NVIDIA's default differs: an MPS client gets its part of one GPU and no more.
    alone = flag(settings, "failRequestsGreaterThanOne", field, default=mode is SharingMode.MPS)
    return Shares(sharing, alone, tuple(line for where, entry in entries for line in _ignored(entry, where)))


def _entries(found: Any, field: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Each resource, and where it stands."""
    if not isinstance(found, list) or not found:
        raise InvalidConfigError(field, "no resources specified", f"list {vocabulary.GPU} with its replicas")
    places = (f"{field}[{number}]" for number in range(len(found)))
    return [
        (place, mapping(entry, place, _RESOURCE_KEYS)) for place, entry in zip(places, found, strict=True)
    ]


def _name(found: Any, field: str, mode: SharingMode) -> str:
    if not found or not isinstance(found, str):
        raise InvalidConfigError(field, "the name is missing", f"write {vocabulary.GPU}")
    # NVIDIA puts its prefix before a name that lacks it.
    name = _PREFIX + found.removeprefix(_PREFIX)
    if name == vocabulary.GPU:
        return name
    if name.endswith(vocabulary.SHARED_SUFFIX) or name not in mig.managed_resources():
        remedy = f"use {vocabulary.GPU}, or a MIG resource such as {vocabulary.MIG_PREFIX}1g.5gb"
        raise InvalidConfigError(field, f"{found!r} is no resource of GPUs", remedy)
    if mode is SharingMode.MPS:
        raise InvalidConfigError(field, "MPS does not go with MIG devices", "share them by timeSlicing")
    return name


def _replicas(found: Any, field: str) -> int:
    if isinstance(found, bool) or not isinstance(found, int) or found < 2:
        remedy = "a whole number of at least 2 is needed"
        raise InvalidConfigError(field, f"{found!r} is not a number of shares", remedy)
    return found


def _ignored(entry: Mapping[str, Any], where: str) -> Iterator[str]:
    """What NVIDIA reads, warns of, and does nothing with; what it would not even read is refused."""
    found = entry.get("devices", "all")
    counted = isinstance(found, int) and not isinstance(found, bool) and found > 0
    listed = isinstance(found, list) and found and all(_DEVICE.fullmatch(str(item)) for item in found)
    if not (found == "all" or counted or listed):
        remedy = 'write "all", a number above 0, or a list of indexes and UUIDs'
        raise InvalidConfigError(f"{where}.devices", f"{found!r} names no devices", remedy)
    if found != "all":
        yield f"{where}.devices is ignored, as by NVIDIA's plugin: all devices are shared"
    if entry.get("rename") is not None:
        yield f"{where}.rename is ignored, as by NVIDIA's plugin: see renameByDefault"
