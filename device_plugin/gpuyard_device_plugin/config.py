"""NVIDIA's own configuration file of its device plugin, version v1, as a value.

Stands for api/config/v1 of NVIDIA's k8s-device-plugin. As there, keys that are not known are ignored, MPS wins where
time-slicing is configured too, and shares are a matter of all devices of a resource (`devices` is read as "all").
What a fake cannot honour is refused, never half done: shares of MIG devices are not modelled.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpuyard import vocabulary
from gpuyard.inventory import MigStrategy, Sharing, SharingMode

_MODES = (("mps", SharingMode.MPS), ("timeSlicing", SharingMode.TIME_SLICING))


class InvalidConfigError(Exception):
    """The configuration cannot be used. `field` is a path such as sharing.mps.resources[0].replicas."""

    def __init__(self, field: str, problem: str, remedy: str) -> None:
        super().__init__(f"{field}: {problem}; {remedy}")
        self.field, self.problem, self.remedy = field, problem, remedy


@dataclass(frozen=True, slots=True)
class PluginConfig:
    """How the GPUs of a node are advertised."""

    mig_strategy: MigStrategy = MigStrategy.NONE
    sharing: Sharing = Sharing()
    fail_requests_greater_than_one: bool = False
    """A container may ask for one share only."""


def parse(document: Any) -> PluginConfig:
    """The decoded file; nothing (None, {}) is NVIDIA's default. InvalidConfigError names field and remedy."""
    found = _mapping(document, "config")
    if found.get("version", "v1") != "v1":
        raise InvalidConfigError("version", f"{found['version']!r} is unknown", "use v1")
    strategy = _strategy(_mapping(found.get("flags"), "flags").get("migStrategy", "none"))
    sharing = _mapping(found.get("sharing"), "sharing")
    for key, mode in _MODES:
        if sharing.get(key) is not None:
            return _shared(_mapping(sharing[key], f"sharing.{key}"), f"sharing.{key}", mode, strategy)
    return PluginConfig(strategy)


def _strategy(found: Any) -> MigStrategy:
    try:
        return MigStrategy(found)
    except ValueError:
        known = ", ".join(MigStrategy)
        raise InvalidConfigError("flags.migStrategy", f"{found!r} is unknown", f"use {known}") from None


def _shared(found: Mapping[str, Any], field: str, mode: SharingMode, strategy: MigStrategy) -> PluginConfig:
    if mode is SharingMode.MPS and strategy is MigStrategy.MIXED:
        remedy = "use migStrategy none, or timeSlicing"
        raise InvalidConfigError(field, "MPS does not go with migStrategy mixed", remedy)
    sharing = Sharing(
        mode,
        replicas=_replicas(found.get("resources"), f"{field}.resources"),
        renamed=_flag(found, "renameByDefault", field, default=False),
    )
    # NVIDIA's default differs: an MPS client gets its part of one GPU and no more.
    alone = _flag(found, "failRequestsGreaterThanOne", field, default=mode is SharingMode.MPS)
    return PluginConfig(strategy, sharing, alone)


def _replicas(found: Any, field: str) -> int:
    if not isinstance(found, list) or not found:
        raise InvalidConfigError(field, "no resources specified", f"list {vocabulary.GPU} with its replicas")
    if len(found) > 1:
        raise InvalidConfigError(field, f"{len(found)} resources", f"share {vocabulary.GPU} only, once")
    entry = _mapping(found[0], f"{field}[0]")
    _require_gpu(entry.get("name"), f"{field}[0].name")
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


def _flag(found: Mapping[str, Any], key: str, field: str, *, default: bool) -> bool:
    flag = found.get(key, default)
    if not isinstance(flag, bool):
        raise InvalidConfigError(f"{field}.{key}", f"{flag!r} is not true or false", "write true or false")
    return flag


def _mapping(found: Any, field: str) -> Mapping[str, Any]:
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise InvalidConfigError(field, f"{found!r} is not a mapping", "see NVIDIA's config file, version v1")
    return found
