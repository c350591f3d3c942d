"""Admission: what the cluster says about a write before the object's own rules do.

Stands for kube-apiserver's admission plugins NamespaceLifecycle, Priority, MutatingAdmissionPolicy,
MutatingAdmissionWebhook, ValidatingAdmissionPolicy and ValidatingAdmissionWebhook, in this order.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.admission import policies, webhooks
from gpuyard_cluster.apiserver.admission.policy_matching import Attributes
from gpuyard_cluster.apiserver.backend import Backend
from gpuyard_cluster.apiserver.errors import ApiError, Cause, forbidden, not_found
from gpuyard_cluster.apiserver.kinds import pod_defaults, priorities
from gpuyard_cluster.apiserver.routing import Target
from gpuyard_cluster.apiserver.wire.options import WriteOptions

_GROUP = "admissionregistration.k8s.io"


@dataclass(frozen=True, slots=True)
class Attempt:
    """A write under admission: `operation` is CREATE, UPDATE or DELETE; `old` is what is stored, if anything."""

    operation: str
    target: Target
    old: JSON | None
    options: WriteOptions


def check_namespace(backend: Backend, target: Target) -> None:
    """404 when a new object's namespace is missing, 403 when it is being deleted."""
    if not target.namespace:
        return
    namespace = backend.store.get("namespaces", target.namespace)
    if namespace is None:
        raise not_found("namespaces", target.namespace)
    if namespace.obj["metadata"].get("deletionTimestamp"):
        raise _terminating(target)


def _terminating(target: Target) -> ApiError:
    namespace = target.namespace
    why = f"unable to create new content in namespace {namespace} because it is being terminated"
    error = forbidden(target.resource.qualified, target.name, why)
    text = f"namespace {namespace} is being terminated"
    cause = Cause("metadata.namespace", "NamespaceTerminating", text)
    error.details = {**(error.details or {}), "causes": [cause.document()]}
    return error


def mutate(backend: Backend, attempt: Attempt, obj: JSON) -> JSON:
    """The object as admission wants it to be."""
    target = attempt.target
    if target.resource.qualified == "pods" and not target.subresource:
        pod_defaults.admit_pod(obj)
        if attempt.operation == "CREATE":
            priorities.admit(obj, _objects(backend, "priorityclasses.scheduling.k8s.io"))
    obj = _mutated_by_policies(backend, attempt, obj, again=False)
    if not backend.store.count(webhooks.MUTATING):
        return obj
    attributes, past = _attributes(backend, attempt), webhooks.Round()
    left = webhooks.mutate(backend, attributes, obj, past)
    if left == obj:
        return obj
    obj = _mutated_by_policies(backend, attempt, left, again=True)
    if obj != left:
        past.again |= past.called
    return webhooks.mutate(backend, attributes, obj, past, again=True)


def _mutated_by_policies(backend: Backend, attempt: Attempt, obj: JSON, *, again: bool) -> JSON:
    """The object as policies want it; `again` after webhooks have changed it, for those that ask for that."""
    found = [
        policy
        for policy in _objects(backend, f"mutatingadmissionpolicies.{_GROUP}")
        if not again or policy["spec"].get("reinvocationPolicy") == "IfNeeded"
    ]
    if not found:
        return obj
    bindings = _objects(backend, f"mutatingadmissionpolicybindings.{_GROUP}")
    return policies.mutate(found, bindings, _attributes(backend, attempt), obj)


def validate(backend: Backend, attempt: Attempt, obj: JSON | None) -> None:
    """Raise what the cluster's policies have against the write; `obj` is None for a deletion."""
    found = _objects(backend, f"validatingadmissionpolicies.{_GROUP}")
    if found:
        bindings = _objects(backend, f"validatingadmissionpolicybindings.{_GROUP}")
        policies.validate(found, bindings, _attributes(backend, attempt), obj)
    if backend.store.count(webhooks.VALIDATING):
        webhooks.validate(backend, _attributes(backend, attempt), obj)


def admit_deletion(backend: Backend, attempt: Attempt) -> None:
    """Raise what the cluster has against a deletion. There is nothing to change, but mutating webhooks are asked."""
    if backend.store.count(webhooks.MUTATING):
        webhooks.announce(backend, _attributes(backend, attempt))
    validate(backend, attempt, None)


def _objects(backend: Backend, collection: str) -> Sequence[JSON]:
    return [stored.obj for stored in backend.store.scan(collection)]


def _attributes(backend: Backend, attempt: Attempt) -> Attributes:
    target = attempt.target
    namespace = backend.store.get("namespaces", target.namespace) if target.namespace else None
    return Attributes(
        operation=attempt.operation,
        resource=target.resource,
        subresource=target.subresource,
        name=target.name,
        namespace=target.namespace,
        namespace_object=namespace.obj if namespace is not None else None,
        old=attempt.old,
        user=attempt.options.user,
        dry_run=attempt.options.dry_run,
    )
