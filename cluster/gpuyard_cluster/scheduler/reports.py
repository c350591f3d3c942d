"""What the scheduler writes: the condition PodScheduled, events, and the Binding of a pod without an extender.

Stands for kube-scheduler's handleSchedulingFailure, its event recorder and DefaultBinder. Law: a condition is written
only when it changes, because each write wakes the pod.
"""

from typing import Any

from gpuyard import vocabulary
from gpuyard.writes import JSON, PatchType, Write
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
    status: dict[str, Any] = {"conditions": [found]}
    if pod.nominated:
        status["nominatedNodeName"] = None
    body = {"metadata": {"uid": pod.uid}, "status": status}
    return Write("PATCH", f"{pod.path}/status", body, PatchType.STRATEGIC)


def failed_event(pod: PodInfo, message: str, now: float) -> Write:
    """FailedScheduling, as `kubectl describe pod` shows it."""
    return _event(pod, "Warning", "FailedScheduling", message, now)


def scheduled_event(pod: PodInfo, node: str, now: float) -> Write:
    """Scheduled."""
    return _event(pod, "Normal", "Scheduled", f"Successfully assigned {pod.key} to {node}", now)


def binding(pod: PodInfo, node: str) -> Write:
    """Bind the pod, if it is still the same one."""
    body: JSON = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid},
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    }
    return Write("POST", f"{pod.path}/binding", body)


def _event(pod: PodInfo, kind: str, reason: str, message: str, now: float) -> Write:
    body: JSON = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": f"{pod.name}.", "namespace": pod.namespace},
        "involvedObject": {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": pod.namespace,
            "name": pod.name,
            "uid": pod.uid,
        },
        "type": kind,
        "reason": reason,
        # The API server takes up to 1,024 characters of text.
        "message": message[:1024],
        "source": {"component": vocabulary.SCHEDULER},
        "firstTimestamp": rfc3339(now),
        "lastTimestamp": rfc3339(now),
        "count": 1,
    }
    return Write("POST", f"/api/v1/namespaces/{pod.namespace}/events", body)
