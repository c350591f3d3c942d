"""What is left in a namespace that is being deleted, and what that means for it.

Stands for the namespace controller's deletion of content, and for the conditions that tell people what it waits for.
"""

from collections.abc import Mapping, Sequence

from gpuyard.writes import JSON, PatchType, Write

FINALIZER = "kubernetes"
"""The entry of `spec.finalizers` that the namespace controller works off."""
Remaining = Mapping[str, Sequence[JSON]]
"""Resource (plural) -> its objects that are still there; only resources with objects."""


def is_ours(namespace: JSON) -> bool:
    """Whether the namespace waits for its content to be deleted."""
    deleting = bool(namespace["metadata"].get("deletionTimestamp"))
    return deleting and FINALIZER in (namespace.get("spec", {}).get("finalizers") or ())


def finish(namespace: JSON) -> Write:
    """Let an empty namespace go."""
    kept = [name for name in namespace["spec"]["finalizers"] if name != FINALIZER]
    body = {
        **namespace,
        "kind": "Namespace",
        "apiVersion": "v1",
        "spec": {**namespace["spec"], "finalizers": kept},
    }
    return Write("PUT", f"/api/v1/namespaces/{namespace['metadata']['name']}/finalize", body)


def report(namespace: JSON, remaining: Remaining, now: str) -> Write | None:
    """Say in the namespace's status what it waits for; None when it says so already. `now` as metav1.Time."""
    wanted = [
        _condition("NamespaceContentRemaining", "SomeResourcesRemain", _content(remaining)),
        _condition("NamespaceFinalizersRemaining", "SomeFinalizersRemain", _finalizers(remaining)),
    ]
    present = namespace.get("status", {}).get("conditions") or []
    told = [{key: value for key, value in entry.items() if key != "lastTransitionTime"} for entry in present]
    if all(entry in told for entry in wanted):
        return None
    ours = {entry["type"] for entry in wanted}
    others = [entry for entry in present if entry["type"] not in ours]
    conditions = [*others, *({**entry, "lastTransitionTime": now} for entry in wanted)]
    path = f"/api/v1/namespaces/{namespace['metadata']['name']}/status"
    return Write("PATCH", path, {"status": {"conditions": conditions}}, PatchType.MERGE)


def _condition(kind: str, reason: str, message: str) -> JSON:
    if not message:
        return {"type": kind, "status": "False", "reason": "ContentRemoved", "message": "nothing remains"}
    return {"type": kind, "status": "True", "reason": reason, "message": message}


def _content(remaining: Remaining) -> str:
    counts = (
        f"{resource} has {len(objects)} resource instances" for resource, objects in sorted(remaining.items())
    )
    return f"Some resources are remaining: {', '.join(counts)}"


def _finalizers(remaining: Remaining) -> str:
    names = [name for objects in remaining.values() for obj in objects for name in _held(obj)]
    counts = (f"{name} in {names.count(name)} resource instances" for name in sorted(set(names)))
    return f"Some content in the namespace has finalizers remaining: {', '.join(counts)}" if names else ""


def _held(obj: JSON) -> Sequence[str]:
    held: Sequence[str] = obj["metadata"].get("finalizers") or ()
    return held
