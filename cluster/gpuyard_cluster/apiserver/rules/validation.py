"""Whether an object of a built-in kind may be stored: one table of rules by kind.

Stands for the `Validate` and `ValidateUpdate` of the registry strategies. Metadata has its rules in `names`, custom
resources have theirs in their schema.
"""

from collections.abc import Callable, Iterator

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import Cause
from gpuyard_cluster.apiserver.rules import (
    coordination,
    data,
    definitions,
    events,
    networks,
    nodes,
    pod_updates,
    pods,
    policies,
    webhooks,
    workloads,
)

Rule = Callable[[JSON], Iterator[Cause] | list[Cause]]
ChangeRule = Callable[[JSON, JSON], Iterator[Cause] | list[Cause]]


def validate_create(kind: str, obj: JSON) -> list[Cause]:
    """Every fault of a new object, after defaults; empty when it may be stored."""
    rule = _CREATE.get(kind)
    return list(rule(obj)) if rule else []


def validate_update(kind: str, old: JSON, new: JSON, subresource: str) -> list[Cause]:
    """Every fault of a change from `old` to `new`; `subresource` is empty for the object itself."""
    if subresource:
        rule = _STATUS.get(kind) if subresource == "status" else None
        return list(rule(new)) if rule else []
    if change := _UPDATE.get(kind):
        return list(change(old, new))
    return validate_create(kind, new)


def _pod_update(old: JSON, new: JSON) -> Iterator[Cause]:
    yield from pods.spec_faults(new.get("spec", {}), "spec")
    yield from pod_updates.update_faults(old, new)


def _pod_status(pod: JSON) -> Iterator[Cause]:
    return pods.status_faults(pod.get("status", {}))


_CREATE: dict[str, Rule] = {
    "ConfigMap": data.data_faults,
    "ClusterRole": networks.role_faults,
    "CronJob": workloads.cron_job_faults,
    "CustomResourceDefinition": definitions.definition_faults,
    "DaemonSet": workloads.workload_faults,
    "Deployment": workloads.workload_faults,
    "EndpointSlice": networks.endpoint_slice_faults,
    "Event": events.create_faults,
    "Job": workloads.job_faults,
    "Lease": coordination.lease_faults,
    "MutatingAdmissionPolicy": policies.policy_faults,
    "MutatingAdmissionPolicyBinding": policies.binding_faults,
    "MutatingWebhookConfiguration": webhooks.configuration_faults,
    "Node": nodes.node_faults,
    "Pod": pods.create_faults,
    "PodDisruptionBudget": coordination.budget_faults,
    "PriorityClass": coordination.priority_class_faults,
    "ReplicaSet": workloads.workload_faults,
    "Role": networks.role_faults,
    "Secret": data.data_faults,
    "Service": networks.service_faults,
    "StatefulSet": workloads.workload_faults,
    "ValidatingAdmissionPolicy": policies.policy_faults,
    "ValidatingAdmissionPolicyBinding": policies.binding_faults,
    "ValidatingWebhookConfiguration": webhooks.configuration_faults,
}
_UPDATE: dict[str, ChangeRule] = {
    "ConfigMap": data.update_faults,
    "CustomResourceDefinition": definitions.update_faults,
    "DaemonSet": workloads.selector_update_faults,
    "Deployment": workloads.selector_update_faults,
    "Event": events.update_faults,
    "Node": nodes.update_faults,
    "Pod": _pod_update,
    "PriorityClass": coordination.priority_class_update_faults,
    "ReplicaSet": workloads.selector_update_faults,
    "Secret": data.update_faults,
    "StatefulSet": workloads.selector_update_faults,
}
_STATUS: dict[str, Rule] = {"Node": nodes.node_faults, "Pod": _pod_status}
