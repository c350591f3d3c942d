"""What survives a kubelet: who holds which devices, and which containers run since when.

Stands for kubelet_internal_checkpoint, and for the container runtime, which knows the containers when the kubelet has
forgotten them. Law: a file that cannot be used counts as absent, and that is said.
"""

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from gpuyard_cluster.kubelet.device_manager import Devices, Holding

DEVICES_FILE, CONTAINERS_FILE = "kubelet_internal_checkpoint", "containers.json"


class Disk(Protocol):
    """The node's disk: small files by name. A write is whole or not at all."""

    def read(self, name: str) -> bytes | None:
        """The file's content; None when there is none."""

    def write(self, name: str, content: bytes) -> None:
        """Replace the file."""


@dataclass(frozen=True, slots=True)
class Started:
    """A pod whose containers run since `at` (seconds since the epoch), with their environments by name."""

    at: float
    environments: Mapping[str, Mapping[str, str]]
    waits: str | None = None
    """Not None: it was admitted at `at`, and its containers are still to run; why, where that is known."""


class UnusableCheckpointError(ValueError):
    """A file is there but not in a form that this kubelet wrote."""


def write_devices(disk: Disk, devices: Devices) -> None:
    """Keep holdings, and which resources have been registered."""
    entries = [
        {
            "PodUID": found.pod,
            "ContainerName": found.container,
            "ResourceName": found.resource,
            # -1: the devices belong to no NUMA node.
            "DeviceIDs": {"-1": list(found.ids)},
            "Envs": dict(found.envs),
        }
        for found in devices.holdings
    ]
    registered = {name: sorted(healthy) for name, healthy in devices.lists.items()}
    _write(disk, DEVICES_FILE, {"PodDeviceEntries": entries, "RegisteredDevices": registered})


def read_devices(disk: Disk) -> Devices:
    """What `write_devices` kept: until its plugin registers anew, a resource has no device."""
    data = _read(disk, DEVICES_FILE)
    try:
        return Devices(
            lists={str(name): {} for name in data.get("RegisteredDevices", {})},
            connected=frozenset(),
            holdings=tuple(_holding(entry) for entry in data.get("PodDeviceEntries", ())),
        )
    except (AttributeError, KeyError, TypeError) as error:
        raise UnusableCheckpointError(f"{DEVICES_FILE}: {error!r}") from error


def write_containers(disk: Disk, started: Mapping[str, Started]) -> None:
    """Keep what runs: pod UID -> Started."""
    pods = {
        uid: {
            "at": found.at,
            "environments": {name: dict(env) for name, env in found.environments.items()},
            "waits": found.waits,
        }
        for uid, found in started.items()
    }
    _write(disk, CONTAINERS_FILE, pods)


def read_containers(disk: Disk) -> dict[str, Started]:
    """What `write_containers` kept."""
    data = _read(disk, CONTAINERS_FILE)
    try:
        return {
            uid: Started(float(found["at"]), found["environments"], found.get("waits"))
            for uid, found in data.items()
        }
    except (KeyError, TypeError, ValueError) as error:
        raise UnusableCheckpointError(f"{CONTAINERS_FILE}: {error!r}") from error


def _holding(entry: Mapping[str, Any]) -> Holding:
    ids = tuple(device for devices in entry["DeviceIDs"].values() for device in devices)
    return Holding(
        entry["PodUID"], entry["ContainerName"], entry["ResourceName"], ids, dict(entry.get("Envs") or {})
    )


def _write(disk: Disk, name: str, data: Mapping[str, Any]) -> None:
    disk.write(name, json.dumps({"Data": data, "Checksum": _checksum(data)}).encode())


def _read(disk: Disk, name: str) -> dict[str, Any]:
    content = disk.read(name)
    if content is None:
        return {}
    try:
        document = json.loads(content)
        data, checksum = document["Data"], document["Checksum"]
    except (KeyError, TypeError, ValueError) as error:
        raise UnusableCheckpointError(f"{name}: {error!r}") from error
    if not isinstance(data, dict) or checksum != _checksum(data):
        raise UnusableCheckpointError(f"{name}: checksum does not match")
    return data


def _checksum(data: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(data, sort_keys=True).encode())
