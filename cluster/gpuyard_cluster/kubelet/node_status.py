"""The Node object as its kubelet keeps it.

Stands for the kubelet's node status setters. Sick devices count in capacity only; a resource whose plugin has been
away for 5 minutes stays with 0. Only fields that differ are written: a change of a node wakes waiting pods.
"""

import uuid
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpuyard.pods import quantities
from gpuyard.writes import JSON, PatchType, Write
from gpuyard_cluster.apiserver.documents.health import VERSION
from gpuyard_cluster.kubelet.device_manager import Devices
from gpuyard_kube.timestamps import rfc3339


@dataclass(frozen=True, slots=True)
class Machine:
    """The node that a kubelet runs on. `capacity` holds quantities of cpu, memory and pods."""

    name: str
    labels: Mapping[str, str]
    capacity: Mapping[str, str]

    @property
    def address(self) -> str:
        """A made-up address, always the same for one name."""
        return address("10.128", self.name)


def address(half: str, name: str) -> str:
    """An IPv4 address under `half` (two numbers) that follows from a name; nothing listens there."""
    number = zlib.crc32(name.encode())
    return f"{half}.{number >> 8 & 255}.{number & 255}"


def registration(machine: Machine, devices: Devices, now: float) -> Write:
    """Create the Node."""
    labels = {
        "kubernetes.io/hostname": machine.name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        **machine.labels,
    }
    body: JSON = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": machine.name, "labels": labels},
        "spec": {},
        "status": _status(machine, devices, {}, now),
    }
    return Write("POST", "/api/v1/nodes", body)


def update(machine: Machine, devices: Devices, node: JSON, now: float) -> Write | None:
    """Bring the status of the Node in line with the devices; None when it is."""
    old = node.get("status") or {}
    changed = {
        key: value for key, value in _status(machine, devices, old, now).items() if value != old.get(key)
    }
    if not changed:
        return None
    body = {"metadata": {"uid": node["metadata"]["uid"]}, "status": changed}
    return Write("PATCH", f"/api/v1/nodes/{machine.name}/status", body, PatchType.STRATEGIC)


def _status(machine: Machine, devices: Devices, old: JSON, now: float) -> JSON:
    own = {name: quantities.canonical(amount) for name, amount in machine.capacity.items()}
    capacity = {name: _count(devices.capacity(name)) for name in devices.lists}
    allocatable = {name: _count(len(devices.healthy(name))) for name in devices.lists}
    return {
        "capacity": {**(old.get("capacity") or {}), **own, **capacity},
        "allocatable": {**(old.get("allocatable") or {}), **own, **allocatable},
        "conditions": _conditions(old, now),
        "addresses": [
            {"type": "InternalIP", "address": machine.address},
            {"type": "Hostname", "address": machine.name},
        ],
        "nodeInfo": _info(machine),
    }


def _info(machine: Machine) -> JSON:
    """What `kubectl get nodes -o wide` shows. The suffix of the version says that it is not the real one."""
    mark = str(uuid.uuid5(uuid.NAMESPACE_DNS, machine.name))
    return {
        "architecture": "amd64",
        "operatingSystem": "linux",
        "kubeletVersion": VERSION["gitVersion"],
        "kubeProxyVersion": "",
        "osImage": "GPUYard",
        "kernelVersion": "none",
        "containerRuntimeVersion": "gpuyard://none",
        "machineID": mark.replace("-", ""),
        "systemUUID": mark,
        "bootID": mark,
    }


def _count(devices: int) -> str:
    """As the API server stores it ("1k"), or every look at the node would find a difference."""
    return quantities.canonical(devices)


def _conditions(old: JSON, now: float) -> list[dict[str, Any]]:
    """Ready, beside whatever others say."""
    conditions: list[dict[str, Any]] = old.get("conditions") or []
    if any(found.get("type") == "Ready" and found.get("status") == "True" for found in conditions):
        return conditions
    ready = {
        "type": "Ready",
        "status": "True",
        "reason": "KubeletReady",
        "message": "kubelet is posting ready status",
        "lastTransitionTime": rfc3339(now),
    }
    return [*(found for found in conditions if found.get("type") != "Ready"), ready]
