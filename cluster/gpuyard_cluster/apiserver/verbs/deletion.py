"""Deleting an object: at once, gracefully, or when its last finalizer goes.

Stands for `rest.BeforeDelete` and `registry.Store.Delete` of kube-apiserver. Laws:
- Only pods have a grace period; a later delete can only shorten it. A pod that no kubelet runs has none.
- Removing a pod is two events, MODIFIED with its deletionTimestamp and DELETED, also when it goes at once.
- Dependents are the garbage collector's: a propagation policy becomes a finalizer that it removes.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from gpuyard.pods.phases import has_ended
from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.admission import admission
from gpuyard_cluster.apiserver.backend import Backend
from gpuyard_cluster.apiserver.errors import forbidden
from gpuyard_cluster.apiserver.routing import Target
from gpuyard_cluster.apiserver.rules import metadata
from gpuyard_cluster.apiserver.storage import commits
from gpuyard_cluster.apiserver.storage.storage import Stored
from gpuyard_cluster.apiserver.wire.delete_options import DeleteOptions
from gpuyard_cluster.apiserver.wire.options import WriteOptions
from gpuyard_kube.timestamps import rfc3339

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"
DEFINITION_CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
IMMORTAL = frozenset({"default", "kube-public", "kube-system"})


@dataclass(frozen=True, slots=True)
class Deleted:
    """The object after the request; `gone` is whether it is removed."""

    stored: Stored
    gone: bool


def delete(backend: Backend, target: Target, options: DeleteOptions) -> Deleted:
    """Delete the target's object, or mark it for deletion; ApiError when that is refused."""
    stored = backend.read(target)
    metadata.check_preconditions(target, stored.obj["metadata"], options.preconditions)
    _admit(backend, target, stored, options)
    return carry_out(backend, target, options)


def _admit(backend: Backend, target: Target, stored: Stored, options: DeleteOptions) -> None:
    old = backend.view(target).obj(stored)
    attempt = admission.Attempt(
        "DELETE", target, old, WriteOptions(dry_run=options.dry_run, user=options.user)
    )
    admission.admit_deletion(backend, attempt)


def carry_out(backend: Backend, target: Target, options: DeleteOptions) -> Deleted:
    """Delete the target's object, or mark it, once that is admitted."""
    stored = backend.read(target)
    if target.resource.qualified == "namespaces":
        return _delete_namespace(backend, target, stored, options)
    obj = backend.view(target).obj(stored)
    if not _mark(backend, target, obj, options):
        return Deleted(stored, gone=False)
    if obj != backend.view(target).obj(stored):
        stored = commits.put(backend, target, obj, dry_run=options.dry_run)
    if obj["metadata"].get("finalizers") or obj["metadata"].get("deletionGracePeriodSeconds"):
        return Deleted(stored, gone=False)
    return Deleted(commits.remove(backend, target, dry_run=options.dry_run), gone=True)


def _mark(backend: Backend, target: Target, obj: JSON, options: DeleteOptions) -> bool:
    """Write into `obj` what the deletion does to it, in place; False when it is under way and stays as it is."""
    graceful = target.resource.qualified == "pods" and not _ending_now(obj)
    if graceful and not _mark_graceful(backend, obj, options.grace):
        return False
    meta = obj["metadata"]
    finalizers = _with_propagation(meta.get("finalizers") or [], options.propagation)
    if target.resource.qualified == "customresourcedefinitions.apiextensions.k8s.io":
        finalizers = [*(name for name in finalizers if name != DEFINITION_CLEANUP), DEFINITION_CLEANUP]
    if finalizers != (meta.get("finalizers") or []):
        meta["finalizers"] = finalizers
        if not finalizers:
            del meta["finalizers"]
    if not graceful and finalizers:
        _mark_held(backend, meta)
    return True


def _ending_now(pod: JSON) -> bool:
    """Whether a pod is marked already, with no grace left: it is only held by finalizers."""
    meta = pod["metadata"]
    return "deletionTimestamp" in meta and not meta.get("deletionGracePeriodSeconds")


def _mark_graceful(backend: Backend, pod: JSON, asked: int | None) -> bool:
    meta = pod["metadata"]
    if "deletionTimestamp" in meta:
        left = meta["deletionGracePeriodSeconds"]
        if asked is None or asked >= left:
            return False
        ends = datetime.fromisoformat(meta["deletionTimestamp"]).timestamp() - left + asked
        meta["deletionTimestamp"] = rfc3339(ends)
        meta["deletionGracePeriodSeconds"] = asked
        return True
    seconds = _grace(pod, asked)
    meta["deletionTimestamp"] = backend.timestamp(seconds)
    meta["deletionGracePeriodSeconds"] = seconds
    _count_generation(meta)
    return True


def _grace(pod: JSON, asked: int | None) -> int:
    """Seconds until the kubelet should be done: none for a pod that is on no node or has ended."""
    spec = pod["spec"]
    if not spec.get("nodeName") or has_ended(pod):
        return 0
    seconds: int = spec.get("terminationGracePeriodSeconds", 30) if asked is None else asked
    return seconds if seconds >= 0 else 1


def _mark_held(backend: Backend, meta: JSON) -> None:
    if "deletionTimestamp" not in meta:
        meta["deletionTimestamp"] = backend.timestamp()
        _count_generation(meta)
    meta["deletionGracePeriodSeconds"] = 0


def _count_generation(meta: JSON) -> None:
    if meta.get("generation"):
        meta["generation"] += 1


def _with_propagation(finalizers: list[str], policy: str) -> list[str]:
    """The finalizers after a delete with that policy; without one, an earlier choice stays."""
    if not policy:
        return finalizers
    wanted = {"Orphan": [ORPHAN], "Foreground": [FOREGROUND]}.get(policy, [])
    return [*(name for name in finalizers if name not in (ORPHAN, FOREGROUND)), *wanted]


def _delete_namespace(backend: Backend, target: Target, stored: Stored, options: DeleteOptions) -> Deleted:
    """A namespace ends when the namespace controller has emptied it and removed its spec's finalizers."""
    if target.name in IMMORTAL:
        raise forbidden("namespaces", target.name, "this namespace may not be deleted")
    obj = stored.copy()
    if "deletionTimestamp" not in obj["metadata"]:
        obj["metadata"]["deletionTimestamp"] = backend.timestamp()
        obj["status"] = {**obj.get("status", {}), "phase": "Terminating"}
        stored = commits.put(backend, target, obj, dry_run=options.dry_run)
    if obj["spec"].get("finalizers") or obj["metadata"].get("finalizers"):
        return Deleted(stored, gone=False)
    return Deleted(commits.remove(backend, target, dry_run=options.dry_run), gone=True)


def delete_collection(
    backend: Backend, target: Target, found: list[Stored], options: DeleteOptions
) -> list[Stored]:
    """Delete each of `found`; their states before it. All are admitted before one is deleted, so that
    nothing has happened where admission has to wait."""
    each = []
    for stored in found:
        meta = stored.obj["metadata"]
        one = replace(target, namespace=meta.get("namespace", ""), name=meta["name"])
        metadata.check_preconditions(one, meta, options.preconditions)
        _admit(backend, one, stored, options)
        each.append(one)
    for one in each:
        if backend.get(one) is not None:  # the end of another may have been its own
            carry_out(backend, one, options)
    return found
