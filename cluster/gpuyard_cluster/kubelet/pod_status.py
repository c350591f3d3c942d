"""The status of a pod, as its kubelet writes it.

Stands for the kubelet's status manager. The ids that a container holds are in allocatedResourcesStatus of app
containers that run: nobody learns them anywhere else in the API. Times that were written stay.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gpuyard.amounts import ContainerKind, containers_of
from gpuyard.writes import JSON
from gpuyard_cluster.kubelet.admission import Refusal
from gpuyard_cluster.kubelet.checkpoint import Started
from gpuyard_cluster.kubelet.device_manager import Devices
from gpuyard_cluster.kubelet.node_status import address
from gpuyard_cluster.timestamps import rfc3339


@dataclass(frozen=True, slots=True)
class End:
    """When a pod's containers end, or ended, and with which exit code."""

    at: float
    code: int


def refused_status(refusal: Refusal) -> JSON:
    """Of a pod that was not admitted."""
    return {"phase": "Failed", "reason": refusal.reason, "message": refusal.message}


def running_status(pod: JSON, started: Started, devices: Devices, host: str) -> JSON:
    """Of a pod whose containers run. `host` is the node's address."""

    def state(kind: ContainerKind) -> JSON:
        if kind is ContainerKind.INIT:
            return _terminated(started.at, End(started.at, 0))
        return {"running": {"startedAt": rfc3339(started.at)}}

    status = _status(pod, started, state, host)
    for found in status["containerStatuses"]:
        held = _devices_status(pod, found["name"], devices)
        if held:
            found["allocatedResourcesStatus"] = held
    return {"phase": "Running", **status, "conditions": _conditions(pod, True, started.at)}


def ended_status(pod: JSON, started: Started, end: End, host: str) -> JSON:
    """Of a pod whose containers have ended."""

    def state(kind: ContainerKind) -> JSON:
        return _terminated(started.at, End(started.at, 0) if kind is ContainerKind.INIT else end)

    status = _status(pod, started, state, host)
    phase = "Failed" if end.code else "Succeeded"
    return {"phase": phase, **status, "conditions": _conditions(pod, False, end.at)}


def differs(pod: JSON, desired: JSON) -> bool:
    """Whether the pod's status still has to be written; when conditions changed is no difference."""
    status = pod.get("status") or {}
    conditions = {found.get("type"): found for found in status.get("conditions") or ()}
    for wanted in desired.get("conditions", ()):
        found = conditions.get(wanted["type"], {})
        if any(found.get(key) != value for key, value in wanted.items() if key != "lastTransitionTime"):
            return True
    return any(status.get(key) != value for key, value in desired.items() if key != "conditions")


def _status(pod: JSON, started: Started, state: Callable[[ContainerKind], JSON], host: str) -> JSON:
    ip = address("10.0", pod["metadata"]["uid"])
    statuses: dict[str, list[JSON]] = {"initContainerStatuses": [], "containerStatuses": []}
    for kind, container in containers_of(pod):
        part = "containerStatuses" if kind is ContainerKind.APP else "initContainerStatuses"
        found = _container_status(pod, container, state(kind))
        # An init container that has ended well counts as ready.
        found["ready"] = kind is ContainerKind.INIT or "running" in found["state"]
        statuses[part].append(found)
    if not statuses["initContainerStatuses"]:
        del statuses["initContainerStatuses"]
    return {
        "hostIP": host,
        "hostIPs": [{"ip": host}],
        "podIP": ip,
        "podIPs": [{"ip": ip}],
        "startTime": rfc3339(started.at),
        **statuses,
    }


def _container_status(pod: JSON, container: JSON, state: JSON) -> JSON:
    image, name = container.get("image", ""), container["name"]
    found: JSON = {
        "name": name,
        "image": image,
        "imageID": image,
        "containerID": f"gpuyard://{pod['metadata']['uid']}-{name}",
        "restartCount": 0,
        "started": "running" in state,
        "state": state,
        "lastState": {},
    }
    resources = container.get("resources") or {}
    allocated = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return {**found, "allocatedResources": allocated} if allocated else found


def _devices_status(pod: JSON, container: str, devices: Devices) -> list[JSON]:
    """The ids that a container holds, sorted, with their health: the truth about who has which device."""
    return [
        {
            "name": held.resource,
            "resources": [
                {"resourceID": device, "health": devices.health(held.resource, device)}
                for device in sorted(held.ids)
            ],
        }
        for held in devices.of_pod(pod["metadata"]["uid"])
        if held.container == container
    ]


def _terminated(started: float, end: End) -> JSON:
    reason = "Error" if end.code else "Completed"
    times = {"startedAt": rfc3339(started), "finishedAt": rfc3339(end.at)}
    return {"terminated": {"exitCode": end.code, "reason": reason, **times}}


def _conditions(pod: JSON, ready: bool, since: float) -> list[JSON]:
    old = {found.get("type"): found for found in (pod.get("status") or {}).get("conditions") or ()}
    running = {"Ready": ready, "ContainersReady": ready, "PodReadyToStartContainers": ready}
    wanted = {"Initialized": True, "PodScheduled": True, **running}
    return [_condition(kind, truth, old.get(kind, {}), since) for kind, truth in sorted(wanted.items())]


def _condition(kind: str, truth: bool, old: dict[str, Any], since: float) -> JSON:
    status = "True" if truth else "False"
    kept = old.get("lastTransitionTime") if old.get("status") == status else None
    # An explicit null takes away what a scheduler wrote while the pod was not bound.
    told = {key: None for key in ("reason", "message") if old.get(key)}
    return {"type": kind, "status": status, **told, "lastTransitionTime": kept or rfc3339(since)}
