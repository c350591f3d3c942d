"""Pods as the controllers of workloads see them: whose they are, how far they are, and how a new one is made.

Stands for `k8s.io/kubernetes/pkg/controller`: PodControllerRefManager, GetPodFromTemplate, ActivePods and their
ranks.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass

from gpuyard.pods.phases import has_ended
from gpuyard.writes import JSON, Write
from gpuyard_cluster.apiserver.selection import label_selectors
from gpuyard_cluster.controllers.decisions import Act, Note, delete, patch
from gpuyard_cluster.controllers.objects import Objects, controller_of, key_of
from gpuyard_kube.timestamps import seconds

PODS = "/api/v1/pods"
BURST = 500
"""So many pods are made or deleted in one go (BurstReplicas)."""
_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"


@dataclass(frozen=True, slots=True)
class Claimed:
    """The objects that an owner controls, and the writes by which it takes up or lets go others."""

    mine: tuple[JSON, ...]
    acts: tuple[Act, ...]


def phase(pod: JSON) -> str:
    return str((pod.get("status") or {}).get("phase", ""))


def deleting(obj: JSON) -> bool:
    return bool(obj["metadata"].get("deletionTimestamp"))


def active(pod: JSON) -> bool:
    return not has_ended(pod) and not deleting(pod)


def ready_since(pod: JSON) -> float | None:
    """Since when the pod is ready (seconds since the epoch); None when it is not."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    found: JSON = next((item for item in conditions if item.get("type") == "Ready"), {})
    return seconds(found.get("lastTransitionTime")) if found.get("status") == "True" else None


def available_at(pod: JSON, owner: JSON) -> float | None:
    """From when on the pod counts as available to its owner; None when it is not active or not ready."""
    since = ready_since(pod) if active(pod) else None
    return None if since is None else since + int(owner["spec"].get("minReadySeconds", 0))


def is_available(pod: JSON, owner: JSON, now: float) -> bool:
    at = available_at(pod, owner)
    return at is not None and at <= now


def claim(owner: JSON, resource: str, collection: str, objects: Objects) -> Claimed:
    """What an owner with a selector controls: its own, orphans that match, not those that match no longer."""
    metadata, selector = owner["metadata"], owner["spec"].get("selector") or {}
    mine, acts = list[JSON](), list[Act]()
    for obj in objects.owned(metadata["uid"], resource):
        if matches(selector, obj):
            mine.append(obj)
        elif not deleting(owner):
            acts.append(Act(patch(collection, obj, {"metadata": {"ownerReferences": _without(obj, owner)}})))
    if not deleting(owner):
        acts += [
            Act(patch(collection, obj, {"metadata": {"ownerReferences": [*_others(obj), reference(owner)]}}))
            for obj in objects.orphans(resource, metadata["namespace"])
            if not deleting(obj) and matches(selector, obj)
        ]
    return Claimed(tuple(mine), tuple(acts))


def concerned(resource: str, kind: str, obj: JSON, objects: Objects) -> list[str]:
    """The keys of the owners of `kind` that a pod or the like belongs to, or that would take it up."""
    owner = controller_of(obj)
    if owner is not None:
        return [f"{obj['metadata']['namespace']}/{owner['name']}"] if owner["kind"] == kind else []
    return [
        key_of(found)
        for found in objects.all(resource, obj["metadata"]["namespace"])
        if matches(found["spec"].get("selector") or {}, obj)
    ]


def matches(selector: JSON, obj: JSON) -> bool:
    """An empty selector matches nothing here: workloads must say what is theirs."""
    return bool(selector) and label_selectors.matches(selector, obj["metadata"].get("labels") or {})


def reference(owner: JSON) -> JSON:
    """The owner reference of a controller."""
    metadata = owner["metadata"]
    named = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": metadata["name"]}
    return {**named, "uid": metadata["uid"], "controller": True, "blockOwnerDeletion": True}


def made_from(template: JSON, owner: JSON, metadata: JSON) -> JSON:
    """A pod as the owner's template says; `metadata` holds its name or generateName and what is added."""
    given = template.get("metadata") or {}
    labels = {**(given.get("labels") or {}), **metadata.get("labels", {})}
    annotations = {**(given.get("annotations") or {}), **metadata.get("annotations", {})}
    body: JSON = {
        **metadata,
        "namespace": owner["metadata"]["namespace"],
        **({"labels": labels} if labels else {}),
        **({"annotations": annotations} if annotations else {}),
        "finalizers": [*(given.get("finalizers") or ()), *metadata.get("finalizers", ())],
        "ownerReferences": [reference(owner)],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": body, "spec": copy.deepcopy(template["spec"])}


def create(pod: JSON, owner: JSON, *, text: str = "Created pod: {name}") -> Act:
    """Make a pod, and tell its owner."""
    path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods"
    done = Note(owner, "SuccessfulCreate", text)
    return Act(Write("POST", path, pod), done, Note(owner, "FailedCreate", "Error creating: {why}", True))


def remove(pod: JSON, owner: JSON) -> Act:
    """Delete a pod, and tell its owner."""
    done = Note(owner, "SuccessfulDelete", f"Deleted pod: {pod['metadata']['name']}")
    return Act(delete(PODS, pod), done, Note(owner, "FailedDelete", "Error deleting: {why}", True))


def by_dispensability(pods: Sequence[JSON]) -> list[JSON]:
    """The pods, the one that is missed least first."""
    return sorted(pods, key=_rank)


def _rank(pod: JSON) -> tuple[bool, int, bool, int, float, int, float]:
    since, status = ready_since(pod), pod.get("status") or {}
    cost = (pod["metadata"].get("annotations") or {}).get(_DELETION_COST, "0")
    restarts = sum(found.get("restartCount", 0) for found in status.get("containerStatuses") or ())
    return (
        bool(pod["spec"].get("nodeName")),
        ("Pending", "Unknown", "Running").index(phase(pod)) if phase(pod) in ("Unknown", "Running") else 0,
        since is not None,
        int(cost) if cost.lstrip("-").isdigit() else 0,
        -(since or 0.0),
        -restarts,
        -(seconds(pod["metadata"].get("creationTimestamp")) or 0.0),
    )


def _without(obj: JSON, owner: JSON) -> list[JSON]:
    references = obj["metadata"].get("ownerReferences") or ()
    return [found for found in references if found["uid"] != owner["metadata"]["uid"]]


def _others(obj: JSON) -> Sequence[JSON]:
    others: Sequence[JSON] = obj["metadata"].get("ownerReferences") or ()
    return others
