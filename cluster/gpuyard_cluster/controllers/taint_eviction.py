"""Pods that must leave a node because of its taints.

Stands for the taint eviction controller: a pod that does not tolerate a NoExecute taint goes at once, one that
tolerates it for a time (DefaultTolerationSeconds: 300 s) when that is over.
"""

from collections.abc import Sequence

from gpuyard.pods.affinity import Taint, Toleration
from gpuyard.writes import JSON, PatchType, Write
from gpuyard_cluster.controllers import pods
from gpuyard_cluster.controllers.decisions import Act, Note, delete, earliest
from gpuyard_cluster.controllers.objects import Objects
from gpuyard_kube.timestamps import rfc3339, seconds


def evictions(
    node: str, taints: Sequence[JSON], objects: Objects, now: float
) -> tuple[list[Act], float | None]:
    """Delete the pods that must leave the node now; and when the next one must."""
    acts, moments = list[Act](), list[float]()
    executing = [taint for taint in taints if taint["effect"] == "NoExecute"]
    if not executing:
        return [], None
    for pod in objects.all("pods"):
        if pod["spec"].get("nodeName") != node or not pods.active(pod):
            continue
        end = _stay(pod, executing)
        if end is not None and end <= now:
            acts += _evicted(pod, now)
        elif end is not None:
            moments.append(end)
    return acts, earliest(*moments)


def _stay(pod: JSON, executing: Sequence[JSON]) -> float | None:
    """Until when a pod may stay (0: it may not); None: for ever."""
    ends = list[float]()
    for taint in executing:
        found = [each for each in pod["spec"].get("tolerations") or () if _tolerates(each, taint)]
        if not found:
            return 0.0
        limits = [each["tolerationSeconds"] for each in found if each.get("tolerationSeconds") is not None]
        if limits:
            ends.append((seconds(taint.get("timeAdded")) or 0.0) + max(0, min(limits)))
    return min(ends, default=None)


def _tolerates(toleration: JSON, taint: JSON) -> bool:
    return Toleration.of(toleration).tolerates(Taint.of(taint))


def _evicted(pod: JSON, now: float) -> list[Act]:
    doomed = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "DeletionByTaintManager",
        "message": "Taint manager: deleting due to NoExecute taint",
        "lastTransitionTime": rfc3339(now),
    }
    metadata = pod["metadata"]
    path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
    body = {"metadata": {"uid": metadata["uid"]}, "status": {"conditions": [doomed]}}
    text = f"Marking for deletion Pod {metadata['namespace']}/{metadata['name']}"
    return [
        Act(Write("PATCH", f"{path}/status", body, PatchType.STRATEGIC)),
        Act(delete(pods.PODS, pod), Note(pod, "TaintManagerEviction", text)),
    ]
