"""What the scheduler writes: the condition PodScheduled, events, and the Binding of a pod without an extender.

Stands for kube-scheduler's handleSchedulingFailure, and DefaultBinder. Law: a condition is written
only when it changes, because each write wakes the pod.
"""

from typing import Any

from gpuyard.writes import JSON, PatchType, Write
from gpuyard_cluster import unsimulated
from gpuyard_cluster.recording import Told
from gpuyard_cluster.scheduler.pods import PodInfo
from gpuyard_cluster.timestamps import rfc3339

UNSCHEDULABLE, SCHEDULER_ERROR = "Unschedulable", "SchedulerError"


def condition(pod: PodInfo, reason: str, message: str, now: float) -> Write | None:
    """PodScheduled=False for this reason; a nomination ends with it. None when the pod says so already."""
    old = pod.scheduled_condition
    same = (old.get("status"), old.get("reason"), old.get("message")) == ("False", reason, message)
    if same and not pod.nominated:
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
    if pod.nominated:
        status["nominatedNodeName"] = None
    body = {"metadata": {"uid": pod.uid}, "status": status}
    return Write("PATCH", f"{pod.path}/status", body, PatchType.STRATEGIC)


def failed(pod: PodInfo, message: str) -> Told:
    """FailedScheduling, as `kubectl describe pod` shows it."""
    return Told(pod.obj, "FailedScheduling", message, warning=True)


def scheduled(pod: PodInfo, node: str) -> Told:
    """Scheduled."""
    return Told(pod.obj, "Scheduled", f"Successfully assigned {pod.key} to {node}")


def binding(pod: PodInfo, node: str) -> Write:
    """Bind the pod, if it is still the same one."""
    body: JSON = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid},
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    }
    return Write("POST", f"{pod.path}/binding", body)
