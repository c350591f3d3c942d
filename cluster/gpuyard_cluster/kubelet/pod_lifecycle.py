"""What a kubelet does next about a pod, as a function of what happened to it.

Stands for the kubelet's pod workers. A pod is

    waiting     until its admission is decided: nothing to write
    refused     Failed, with the reason of the refusal, for good
    running     from its admission on; init containers ended at once
    ended       when gpuyard.io/run-seconds have passed: Succeeded, or Failed by gpuyard.io/exit-code
    killed      Failed with code 143, when it is deleted before it ended: containers heed SIGTERM at once
    gone        ended, refused or never admitted, and to be deleted: removed from the API without grace

Law: everything follows from the Pod, from what the node remembers of it, and from its devices.
"""

import math
from dataclasses import dataclass

from gpuyard import vocabulary
from gpuyard.writes import JSON, PatchType, Write
from gpuyard_cluster.kubelet.admission import Refusal
from gpuyard_cluster.kubelet.checkpoint import Started
from gpuyard_cluster.kubelet.device_manager import Devices
from gpuyard_cluster.kubelet.pod_status import End, differs, ended_status, refused_status, running_status

_KILLED = 143  # 128 + SIGTERM


@dataclass(frozen=True, slots=True)
class PodRecord:
    """What the node remembers of a pod; neither: its admission is still to come."""

    started: Started | None
    refusal: Refusal | None


def terminal(pod: JSON) -> bool:
    """Whether the API server shows the pod as ended."""
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def deleting(pod: JSON) -> bool:
    """Whether somebody wants the pod gone."""
    return bool(pod["metadata"].get("deletionTimestamp"))


def planned_end(pod: JSON, started: Started) -> End | None:
    """How the pod's annotations say that it ends; None: it runs on. Annotations that make no sense are ignored."""
    annotations = pod["metadata"].get("annotations") or {}
    seconds = _number(annotations.get(vocabulary.RUN_SECONDS))
    if seconds is None:
        return None
    code = _number(annotations.get(vocabulary.EXIT_CODE)) or 0
    return End(started.at + seconds, int(code) if code <= 255 else 0)


def ignored_annotations(pod: JSON) -> list[str]:
    """One line for each annotation that should say how the pod ends, and does not."""
    annotations = pod["metadata"].get("annotations") or {}
    return [
        f"annotation {key}={annotations[key]!r} is ignored: it must be a number, 0 or more"
        for key in (vocabulary.RUN_SECONDS, vocabulary.EXIT_CODE)
        if key in annotations and _number(annotations[key]) is None
    ]


def next_write(pod: JSON, record: PodRecord, devices: Devices, host: str, now: float) -> Write | None:
    """The one write that brings the API server in line; None when it is. `host` is the node's address."""
    if terminal(pod) or (record.started is None and deleting(pod)):
        return _removal(pod) if deleting(pod) else None
    status = _status(pod, record, devices, host, now)
    if status is None or not differs(pod, status):
        return None
    body = {"metadata": {"uid": pod["metadata"]["uid"]}, "status": status}
    return Write("PATCH", f"{_path(pod)}/status", body, PatchType.STRATEGIC)


def _status(pod: JSON, record: PodRecord, devices: Devices, host: str, now: float) -> JSON | None:
    if record.refusal is not None:
        return refused_status(record.refusal)
    if record.started is None:
        return None
    end = planned_end(pod, record.started)
    if end is not None and end.at <= now:
        return ended_status(pod, record.started, end, host)
    if deleting(pod):
        return ended_status(pod, record.started, End(now, _KILLED), host)
    return running_status(pod, record.started, devices, host)


def _removal(pod: JSON) -> Write:
    body = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "gracePeriodSeconds": 0,
        "preconditions": {"uid": pod["metadata"]["uid"]},
    }
    return Write("DELETE", _path(pod), body)


def _path(pod: JSON) -> str:
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"


def _number(text: object) -> float | None:
    try:
        number = float(str(text))
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
