"""NVIDIA's own configuration file of its device plugin, version v1, as a value.

Stands for api/config/v1 of NVIDIA's k8s-device-plugin. Fields that mean nothing where there is no driver are known by
name and do nothing, so that a file from a real cluster can be used as it is.
"""

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gpuyard.hardware.inventory import MigStrategy, Sharing, SharingMode
from gpuyard_device_plugin.config import sharing_config
from gpuyard_device_plugin.config.config_fields import InvalidConfigError, flag, mapping, one_of, text

__all__ = ["DeviceIdStrategy", "DeviceListStrategy", "InvalidConfigError", "PluginConfig", "parse"]

_KEYS: Final = ("version", "flags", "resources", "sharing", "imex")
_FLAGS: Final = ("migStrategy", "failOnInitError", "plugin")
_FLAGS_OF_A_DRIVER: Final = (
    *("mpsRoot", "nvidiaDriverRoot", "nvidiaDevRoot", "gdrcopyEnabled", "gdsEnabled", "mofedEnabled"),
    *("useNodeFeatureAPI", "deviceDiscoveryStrategy", "gfd"),
)
_PLUGIN: Final = (
    *("deviceListStrategy", "deviceIDStrategy", "cdiAnnotationPrefix", "sharedDevicesAllocationPolicy"),
)
_PLUGIN_OF_A_DRIVER: Final = ("passDeviceSpecs", "nvidiaCTKPath", "containerDriverRoot")
_DISTRIBUTED: Final = "distributed"


class DeviceListStrategy(enum.StrEnum):
    """How a container learns which devices it has got."""

    ENVVAR = "envvar"
    VOLUME_MOUNTS = "volume-mounts"
    CDI_ANNOTATIONS = "cdi-annotations"
    CDI_CRI = "cdi-cri"


class DeviceIdStrategy(enum.StrEnum):
    """By what name a container learns of a device; the kubelet always knows it by its UUID."""

    UUID = "uuid"
    INDEX = "index"


@dataclass(frozen=True, slots=True)
class PluginConfig:
    """How the GPUs of a node are advertised, and handed to containers."""

    mig_strategy: MigStrategy = MigStrategy.NONE
    sharing: Sharing = Sharing()
    fail_requests_greater_than_one: bool = False
    """A container may ask for one share only."""
    fail_on_init_error: bool = True
    """End when the node has no GPUs to offer yet, instead of waiting for them."""
    device_list: tuple[DeviceListStrategy, ...] = (DeviceListStrategy.ENVVAR,)
    device_id: DeviceIdStrategy = DeviceIdStrategy.UUID
    cdi_annotation_prefix: str = "cdi.k8s.io/"
    ignored: tuple[str, ...] = ()
    """A line for each field that says something and counts for nothing."""


def parse(document: Any) -> PluginConfig:
    """The decoded file; nothing (None, {}) is NVIDIA's default. InvalidConfigError names field and remedy."""
    found = mapping(document, "", _KEYS)
    if found.get("version", "v1") != "v1":
        raise InvalidConfigError("version", f"{found['version']!r} is unknown", "use v1")
    flags = mapping(found.get("flags"), "flags", (*_FLAGS, *_FLAGS_OF_A_DRIVER))
    plugin = mapping(flags.get("plugin"), "flags.plugin", (*_PLUGIN, *_PLUGIN_OF_A_DRIVER))
    shares = sharing_config.parse(found.get("sharing"))
    config = PluginConfig(
        MigStrategy(one_of(flags.get("migStrategy", "none"), "flags.migStrategy", MigStrategy)),
        shares.sharing,
        shares.fail_requests_greater_than_one,
        flag(flags, "failOnInitError", "flags", default=True),
        _device_list(plugin.get("deviceListStrategy")),
        _device_id(plugin),
        text(plugin, "cdiAnnotationPrefix", "flags.plugin", "cdi.k8s.io/"),
        (*shares.ignored, *_meaningless(found, flags, plugin)),
    )
    _check_policy(plugin)
    _check_sharing(config)
    return config


def _meaningless(
    found: Mapping[str, Any], flags: Mapping[str, Any], plugin: Mapping[str, Any]
) -> Iterator[str]:
    """One line that names what is there and only a driver would give a meaning."""
    fields = [key for key in ("resources", "imex") if found.get(key)]
    fields += [f"flags.{key}" for key in _FLAGS_OF_A_DRIVER if flags.get(key)]
    fields += [f"flags.plugin.{key}" for key in _PLUGIN_OF_A_DRIVER if plugin.get(key)]
    if fields:
        yield f"{', '.join(fields)}: without a meaning for GPUs that do not exist"


def _device_list(found: Any) -> tuple[DeviceListStrategy, ...]:
    field = "flags.plugin.deviceListStrategy"
    given = [DeviceListStrategy.ENVVAR] if found is None else found if isinstance(found, list) else [found]
    if not given:
        raise InvalidConfigError(field, "no strategy", f"use {', '.join(DeviceListStrategy)}")
    return tuple(DeviceListStrategy(one_of(item, field, DeviceListStrategy)) for item in dict.fromkeys(given))


def _device_id(plugin: Mapping[str, Any]) -> DeviceIdStrategy:
    found = plugin.get("deviceIDStrategy", DeviceIdStrategy.UUID)
    return DeviceIdStrategy(one_of(found, "flags.plugin.deviceIDStrategy", DeviceIdStrategy))


def _check_policy(plugin: Mapping[str, Any]) -> None:
    """The extender distributes shares, too: packing them here would undo its plans."""
    field = "flags.plugin.sharedDevicesAllocationPolicy"
    one_of(plugin.get("sharedDevicesAllocationPolicy", _DISTRIBUTED), field, [_DISTRIBUTED])


def _check_sharing(config: PluginConfig) -> None:
    if config.sharing.mode is SharingMode.MPS and config.mig_strategy is MigStrategy.MIXED:
        remedy = "use migStrategy none, or timeSlicing"
        raise InvalidConfigError("sharing.mps", "MPS does not go with migStrategy mixed", remedy)
    if config.sharing.instances and config.mig_strategy is not MigStrategy.MIXED:
        name = config.sharing.instances[0][0]
        problem = f"with migStrategy {config.mig_strategy} there is no {name}"
        raise InvalidConfigError("sharing.timeSlicing.resources", problem, "use migStrategy mixed")
