"""Nodes that are cordoned, not ready or silent: their conditions and their taints.

Stands for the node lifecycle controller. Laws:
- A node whose Lease was not renewed for `GRACE_SECONDS` is Unknown. A node without a Lease is not judged: its kubelet
  sends no heartbeats (on the stepped clock a cluster at rest has no event to come).
- Conditions and `spec.unschedulable` become taints; what these mean for pods is `taint_eviction`'s.
"""

from collections.abc import Iterable

from gpuyard.writes import JSON, PatchType, Write
from gpuyard_cluster.controllers import pods, taint_eviction
from gpuyard_cluster.controllers.decisions import NOTHING, Act, Decision, Note, earliest, patch
from gpuyard_cluster.controllers.objects import Objects
from gpuyard_kube.timestamps import rfc3339, seconds

NODES = "/api/v1/nodes"
GRACE_SECONDS = 50.0
"""node-monitor-grace-period of 1.36."""
_PREFIX = "node.kubernetes.io"
_OWN = frozenset(f"{_PREFIX}/{name}" for name in ("not-ready", "unreachable", "unschedulable"))
_KUBELET_CONDITIONS = ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")


class NodeLifecycle:
    name = "node-controller"
    resources = {"nodes": NODES, "pods": pods.PODS, "leases": "/apis/coordination.k8s.io/v1/leases"}

    def keys(self, resource: str, obj: JSON, objects: Objects) -> Iterable[str]:
        if resource == "pods":
            name = obj["spec"].get("nodeName")
            return (f"/{name}",) if name else ()
        if resource == "leases" and obj["metadata"]["namespace"] != "kube-node-lease":
            return ()
        return (f"/{obj['metadata']['name']}",)

    def reconcile(self, key: str, objects: Objects, now: float) -> Decision:
        node = objects.get("nodes", key)
        if node is None:
            return NOTHING
        name = node["metadata"]["name"]
        renewed = _renewed(objects.get("leases", f"kube-node-lease/{name}"))
        silent = renewed is not None and renewed + GRACE_SECONDS <= now
        if silent and _ready(node).get("status") != "Unknown":
            return _lost(node, now)
        taints, moved = _taints(node, now), list[Act]()
        if taints != (node["spec"].get("taints") or []):
            moved.append(Act(patch(NODES, node, {"spec": {"taints": taints or None}})))
        evictions, at = taint_eviction.evictions(name, taints, objects, now)
        silent_at = None if renewed is None or silent else renewed + GRACE_SECONDS
        return Decision((*moved, *evictions), at=earliest(at, silent_at))


def _renewed(lease: JSON | None) -> float | None:
    return seconds(lease["spec"].get("renewTime")) if lease is not None else None


def _ready(node: JSON) -> JSON:
    conditions = (node.get("status") or {}).get("conditions") or ()
    return next((found for found in conditions if found.get("type") == "Ready"), {})


def _lost(node: JSON, now: float) -> Decision:
    """Nobody knows what the node does: every condition that its kubelet kept says so."""
    known = (node.get("status") or {}).get("conditions") or ()
    told = {"reason": "NodeStatusUnknown", "message": "Kubelet stopped posting node status."}
    conditions = [
        {"type": found["type"], "status": "Unknown", **told, "lastTransitionTime": rfc3339(now)}
        for found in known
        if found["type"] in _KUBELET_CONDITIONS
    ]
    body = {"metadata": {"uid": node["metadata"]["uid"]}, "status": {"conditions": conditions}}
    path = f"{NODES}/{node['metadata']['name']}/status"
    text = f"Node {node['metadata']['name']} status is now: NodeNotReady"
    note = Note(node, "NodeNotReady", text)
    return Decision((Act(Write("PATCH", path, body, PatchType.STRATEGIC)),), (note,))


def _taints(node: JSON, now: float) -> list[JSON]:
    """The taints that the node should have: ours by its state, and whatever others put there."""
    present, wanted = node["spec"].get("taints") or [], _wanted(node)
    kept = [taint for taint in present if taint["key"] not in _OWN or _named(taint) in wanted]
    known = {_named(taint) for taint in kept}
    added = [
        {"key": key, "effect": effect, "timeAdded": rfc3339(now)}
        for key, effect in wanted
        if (key, effect) not in known
    ]
    return [*kept, *added]


def _wanted(node: JSON) -> list[tuple[str, str]]:
    status = _ready(node).get("status")
    sick = {"False": "not-ready", "Unknown": "unreachable"}.get(str(status), "")
    found = [(f"{_PREFIX}/{sick}", effect) for effect in ("NoSchedule", "NoExecute")] if sick else []
    cordoned = bool(node["spec"].get("unschedulable"))
    return [*found, *([(f"{_PREFIX}/unschedulable", "NoSchedule")] if cordoned else ())]


def _named(taint: JSON) -> tuple[str, str]:
    return taint["key"], taint["effect"]
