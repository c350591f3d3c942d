"""What a kubelet does next about a pod, as a function of what happened to it.

Stands for the kubelet's pod workers. A pod is

    waiting     until its admission is decided: nothing to write
    refused     Failed, with the reason of the refusal, for good
    admitted    Pending, while a plugin prepares its devices (`preparation`)
    running     from its admission on; init containers ended at once
    waiting for the next run of its containers, which ended (`runs`): still Running, but not ready
    ended       when they have ended for good: Succeeded, or Failed by their exit code
    killed      Failed with code 143, when it is deleted before, or its activeDeadlineSeconds are over: containers
                heed SIGTERM at once
    gone        ended, refused, never admitted or never run, and to be deleted: removed from the API without grace

Law: everything follows from the Pod, from what the node remembers of it, and from its devices.
"""

from dataclasses import dataclass, replace

from gpuyard.pods.phases import has_ended
from gpuyard.writes import JSON, PatchType, Write
from gpuyard_cluster.kubelet import runs
from gpuyard_cluster.kubelet.admission import Refusal
from gpuyard_cluster.kubelet.checkpoint import Started
from gpuyard_cluster.kubelet.device_manager import Devices
from gpuyard_cluster.kubelet.pod_status import (
    CONDITIONS,
    differs,
    ended_status,
    refused_status,
    running_status,
    waiting_status,
)
from gpuyard_cluster.kubelet.runs import End, History, Run

_KILLED = 143  # 128 + SIGTERM
_OVERDUE = {
    "phase": "Failed",
    "reason": "DeadlineExceeded",
    "message": "Pod was active on the node longer than the specified deadline",
}


@dataclass(frozen=True, slots=True)
class PodRecord:
    """What the node remembers of a pod; neither: its admission is still to come."""

    started: Started | None
    refusal: Refusal | None


def deleting(pod: JSON) -> bool:
    """Whether somebody wants the pod gone."""
    return bool(pod["metadata"].get("deletionTimestamp"))


def changes_at(pod: JSON, started: Started, now: float) -> float | None:
    """When the pod changes by itself: a run ends or begins, or its time is over. None: not."""
    moments = [_history(pod, started, now).changes_at, _deadline(pod, started)]
    return min((moment for moment in moments if moment is not None and moment > now), default=None)


def next_write(pod: JSON, record: PodRecord, devices: Devices, host: str, now: float) -> Write | None:
    """The one write that brings the API server in line; None when it is. `host` is the node's address."""
    never_ran = record.started is None or record.started.waits is not None
    if has_ended(pod) or (never_ran and deleting(pod)):
        return _removal(pod) if deleting(pod) else None
    status = _status(pod, record, devices, host, now)
    if status is None or not differs(pod, status):
        return None
    listed = [{"type": found["type"]} for found in status.get(CONDITIONS, ())]
    order = {f"$setElementOrder/{CONDITIONS}": listed} if listed else {}
    body = {"metadata": {"uid": pod["metadata"]["uid"]}, "status": {**status, **order}}
    return Write("PATCH", f"{_path(pod)}/status", body, PatchType.STRATEGIC)


def _status(pod: JSON, record: PodRecord, devices: Devices, host: str, now: float) -> JSON | None:
    if record.refusal is not None:
        return refused_status(record.refusal)
    if record.started is None:
        return None
    deadline, history = _deadline(pod, record.started), _history(pod, record.started, now)
    if history.over:
        return ended_status(pod, record.started, history, host)
    if deadline is not None and deadline <= now:
        stopped = ended_status(pod, record.started, _stopped(history, End(deadline, _KILLED)), host)
        return {**stopped, **_OVERDUE}
    if record.started.waits is not None:
        return waiting_status(pod, record.started, devices, host)
    if deleting(pod):
        return ended_status(pod, record.started, _stopped(history, End(now, _KILLED)), host)
    return running_status(pod, record.started, history, devices, host)


def _history(pod: JSON, started: Started, now: float) -> History:
    return History(Run(started.at)) if started.waits is not None else runs.history(pod, started.at, now)


def _deadline(pod: JSON, started: Started) -> float | None:
    limit = pod["spec"].get("activeDeadlineSeconds")
    return None if limit is None else started.at + limit


def _stopped(history: History, end: End) -> History:
    """The history of containers that are stopped; those that wait for their next run have ended already."""
    return replace(history, present=replace(history.present, end=history.present.end or end), resumes_at=None)


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
