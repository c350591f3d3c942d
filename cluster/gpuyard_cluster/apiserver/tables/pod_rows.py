"""A pod in one line, as `kubectl get pods` shows it.

Stands for `printPod` in kube-apiserver's printers: the status column tells why containers wait or ended.
"""

from collections.abc import Iterator
from typing import Any

from gpuyard.pods.phases import has_ended
from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.tables import ages
from gpuyard_cluster.apiserver.tables.cells import NONE
from gpuyard_kube.timestamps import seconds


def cells(pod: JSON, now: float) -> list[Any]:
    """Ready, Status, Restarts, Age, IP, Node, Nominated Node and Readiness Gates."""
    spec, status = pod.get("spec", {}), pod.get("status", {})
    ready = sum(_running(container) for container in status.get("containerStatuses", ()))
    return [
        f"{ready}/{len(spec.get('containers', ()))}",
        _status(pod),
        _restarts(status, now),
        ages.age(pod["metadata"].get("creationTimestamp"), now),
        status.get("podIP") or NONE,
        spec.get("nodeName") or NONE,
        status.get("nominatedNodeName") or NONE,
        _gates(spec, status),
    ]


def _running(container: JSON) -> bool:
    return bool(container.get("ready")) and "running" in container.get("state", {})


def _status(pod: JSON) -> str:
    status = pod.get("status", {})
    phase = str(status.get("phase", ""))
    if pod["metadata"].get("deletionTimestamp"):
        if status.get("reason") == "NodeLost":
            return "Unknown"
        if not has_ended(pod):
            return "Terminating"
    return _reason(pod.get("spec", {}), status, str(status.get("reason") or phase))


def _reason(spec: JSON, status: JSON, reason: str) -> str:
    scheduled = _condition(status, "PodScheduled")
    if scheduled.get("reason") == "SchedulingGated":
        reason = "SchedulingGated"
    initializing = _initializing(spec, status)
    if initializing and _condition(status, "Initialized").get("status") != "True":
        return initializing
    containers = status.get("containerStatuses", ())
    reason = next((text for container in containers if (text := _container_reason(container))), reason)
    if reason == "Completed" and any(_running(container) for container in containers):
        return "Running" if _condition(status, "Ready").get("status") == "True" else "NotReady"
    return reason


def _container_reason(container: JSON) -> str:
    """Why a container does not run; empty when it does."""
    state = container.get("state", {})
    waiting, ended = state.get("waiting", {}), state.get("terminated")
    return str(waiting.get("reason", "")) if ended is None else _ending(ended)


def _ending(ended: JSON) -> str:
    if ended.get("reason"):
        return str(ended["reason"])
    return f"Signal:{ended['signal']}" if ended.get("signal") else f"ExitCode:{ended.get('exitCode', 0)}"


def _initializing(spec: JSON, status: JSON) -> str:
    """What the first init container that has not succeeded does; empty when all have."""
    declared = spec.get("initContainers", ())
    sidecars = {item["name"] for item in declared if item.get("restartPolicy") == "Always"}
    for at, container in enumerate(status.get("initContainerStatuses", ())):
        state = container.get("state", {})
        ended, waiting = state.get("terminated"), state.get("waiting", {}).get("reason", "")
        done = container.get("name") in sidecars and container.get("started")
        if done or (ended is not None and ended.get("exitCode") == 0):
            continue
        if ended is not None:
            return f"Init:{_ending(ended)}"
        if waiting and waiting != "PodInitializing":
            return f"Init:{waiting}"
        return f"Init:{at}/{len(declared)}"
    return ""


def _restarts(status: JSON, now: float) -> str:
    containers = status.get("containerStatuses", ())
    count = sum(container.get("restartCount", 0) for container in containers)
    ended = max(_endings(containers), default=None)
    if not count or ended is None:
        return str(count)
    return f"{count} ({ages.duration(now - ended)} ago)"


def _endings(containers: Any) -> Iterator[float]:
    for container in containers:
        ended = seconds(container.get("lastState", {}).get("terminated", {}).get("finishedAt"))
        if ended is not None:
            yield ended


def _gates(spec: JSON, status: JSON) -> str:
    gates = [gate.get("conditionType", "") for gate in spec.get("readinessGates", ())]
    met = sum(_condition(status, gate).get("status") == "True" for gate in gates)
    return f"{met}/{len(gates)}" if gates else NONE


def _condition(status: JSON, kind: str) -> JSON:
    found = (item for item in status.get("conditions", ()) if item.get("type") == kind)
    return next(found, {})
