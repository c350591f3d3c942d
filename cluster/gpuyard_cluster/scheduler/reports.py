"""What the scheduler writes: the condition PodScheduled, nominations, removals, events, and its own Bindings.

Stands for kube-scheduler's handleSchedulingFailure, PreemptPod and DefaultBinder. Law: a condition is written
only when it changes, because each write wakes the pod.
"""

from typing import Any

from gpuyard import vocabulary
from gpuyard.writes import JSON, PatchType, Write
from gpuyard_cluster import unsimulated
from gpuyard_cluster.scheduler.pods import PodInfo
from gpuyard_kube.recording import Told
from gpuyard_kube.timestamps import rfc3339

UNSCHEDULABLE, SCHEDULER_ERROR = "Unschedulable", "SchedulerError"


def condition(pod: PodInfo, reason: str, message: str, now: float, *, nominated: str | None) -> Write | None:
    """PodScheduled=False for this reason, and the node promised (None: as it is, empty: none).

    None when the pod says so already.
    """
    old = pod.condition("PodScheduled")
    same = (old.get("status"), old.get("reason"), old.get("message")) == ("False", reason, message)
    wanted = pod.nominated if nominated is None else nominated
    if same and pod.nominated == wanted:
        return None
    since = old.get("lastTransitionTime") if old.get("status") == "False" else None
    found = {
        "type": "PodScheduled",
        "status": "False",
        "reason": reason,
        "message": message,
        "lastProbeTime": None,
        "lastTransitionTime": since or rfc3339(now),
    }
    status: dict[str, Any] = {"conditions": [found, *unsimulated.conditions(pod.obj, now)]}
    if pod.nominated != wanted:
        status["nominatedNodeName"] = wanted or None
    return _status(pod, status)


def no_nomination(pod: PodInfo) -> Write:
    """Take back the node that the pod was promised."""
    return _status(pod, {"nominatedNodeName": None})


def removal(pod: PodInfo, now: float) -> tuple[Write, Write]:
    """Say on the pod that it is removed for another, then delete it, with its own grace period."""
    target = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "PreemptionByScheduler",
        "message": f"{vocabulary.SCHEDULER}: preempting to accommodate a higher priority pod",
        "lastProbeTime": None,
        "lastTransitionTime": rfc3339(now),
    }
    precondition = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": pod.uid}}
    return _status(pod, {"conditions": [target]}), Write("DELETE", pod.path, precondition)


def failed(pod: PodInfo, message: str) -> Told:
    """FailedScheduling, as `kubectl describe pod` shows it."""
    return Told(pod.obj, "FailedScheduling", message, warning=True)


def scheduled(pod: PodInfo, node: str) -> Told:
    """Scheduled."""
    return Told(pod.obj, "Scheduled", f"Successfully assigned {pod.key} to {node}")


def preempted(pod: PodInfo, preemptor: PodInfo, node: str) -> Told:
    """Preempted, about the pod that goes."""
    return Told(pod.obj, "Preempted", f"Preempted by pod {preemptor.uid} on node {node}")


def binding(pod: PodInfo, node: str) -> Write:
    """Bind the pod, if it is still the same one."""
    body: JSON = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid},
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    }
    return Write("POST", f"{pod.path}/binding", body)


def _status(pod: PodInfo, status: JSON) -> Write:
    body = {"metadata": {"uid": pod.uid}, "status": status}
    return Write("PATCH", f"{pod.path}/status", body, PatchType.STRATEGIC)
