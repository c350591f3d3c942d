"""Existing pods as pods to create: where they are, and without what only their old cluster knows."""

from collections.abc import Collection
from copy import deepcopy

from gpuyard import vocabulary
from gpuyard.pods import memberships
from gpuyard.writes import JSON
from gpuyard_cli.imported.notes import Notes
from gpuyard_cli.scenarios.observation import is_live, stays

_KEPT = ("name", "namespace", "labels", "annotations")
_STATIC = "kubernetes.io/config."
_GROUPLESS = "members of gangs whose PodGroup is not in the file: apply it, too"


def imported(
    pod: JSON, nodes: Collection[str], groups: Collection[tuple[str, str]], notes: Notes
) -> JSON | None:
    """The pod to create, bound as it is; None for one that cannot live on, which is noted.

    `groups` are the PodGroups by namespace and name.
    """
    metadata, spec = pod["metadata"], deepcopy(pod["spec"])
    name = f"{metadata.get('namespace', 'default')}/{metadata['name']}"
    reason = _left_out(pod, nodes)
    if reason:
        notes.add(reason, name)
        return None
    if spec.pop("ephemeralContainers", None):
        notes.add("pods without their ephemeral containers", name)
    if metadata.get("ownerReferences"):
        notes.add("pods that nobody owns any more: their owners are not imported", name)
    group = memberships.group_of(pod)
    if group and (metadata.get("namespace", "default"), group) not in groups:
        notes.add(_GROUPLESS, name)
    kept = {key: deepcopy(metadata[key]) for key in _KEPT if metadata.get(key)}
    marks = kept.get("annotations", {})
    kept["annotations"] = {
        key: text for key, text in marks.items() if not key.startswith(_STATIC) and key != vocabulary.WOKEN
    }
    _note_devices(pod, marks, name, notes)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": kept, "spec": spec}


def _left_out(pod: JSON, nodes: Collection[str]) -> str:
    node = pod["spec"].get("nodeName")
    if not is_live(pod):
        return "pods that have ended are left out"
    if not stays(pod):
        return "pods that are being deleted are left out"
    return "pods on nodes that are not in the file are left out" if node and node not in nodes else ""


def _note_devices(pod: JSON, marks: JSON, name: str, notes: Notes) -> None:
    """Which GPUs a pod holds is known only where our extender planned it."""
    holds = any(
        resource.startswith("nvidia.com/")
        for container in pod["spec"].get("containers", ())
        for resource in ((container.get("resources") or {}).get("limits") or {})
    )
    if holds and pod["spec"].get("nodeName") and vocabulary.ALLOCATION not in marks:
        notes.add("pods that get any GPUs of their node: which ones they held is not known", name)


def priority_class(pod: JSON) -> JSON | None:
    """The PriorityClass that the pod's priority comes from; None where it names none, or a built-in one."""
    name, value = pod["spec"].get("priorityClassName"), pod["spec"].get("priority")
    if not name or value is None or name.startswith("system-"):
        return None
    policy = pod["spec"].get("preemptionPolicy", "PreemptLowerPriority")
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
        "preemptionPolicy": policy,
    }
