"""Defaults of built-in kinds: what a user may leave out, filled in before validation.

Stands for the `SetDefaults_*` functions of `k8s.io/kubernetes/pkg/apis`.
"""

import base64
import copy
from collections.abc import Callable

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.kinds import kinds, workload_defaults
from gpuyard_cluster.apiserver.kinds.pod_defaults import default_pod

NAMESPACE_NAME = "kubernetes.io/metadata.name"
"""The label that every namespace carries: its own name."""


def apply_defaults(kind: str, obj: JSON) -> None:
    """Fill in an object of a built-in kind, in place: at creation and at every change."""
    always_there(obj, "spec")
    if default := _DEFAULTS.get(kind):
        default(obj)


def always_there(obj: JSON, part: str) -> None:
    """Spec and status are Go structs: the encoder writes them even when they are empty."""
    name = kinds.type_of(obj.get("apiVersion", ""), obj.get("kind", ""))
    if name and part in kinds.fields(name):
        obj.setdefault(part, {})


def _namespace(namespace: JSON) -> None:
    metadata = namespace.setdefault("metadata", {})
    metadata.setdefault("labels", {})[NAMESPACE_NAME] = metadata.get("name", "")


def _secret(secret: JSON) -> None:
    secret.setdefault("type", "Opaque")
    written = secret.pop("stringData", None) or {}
    encoded = {key: base64.b64encode(text.encode()).decode() for key, text in written.items()}
    if encoded:
        secret["data"] = secret.get("data", {}) | encoded


def _node(node: JSON) -> None:
    status = node.setdefault("status", {})
    if "capacity" in status:
        status.setdefault("allocatable", dict(status["capacity"]))


def _priority_class(priority_class: JSON) -> None:
    priority_class.setdefault("value", 0)
    priority_class.setdefault("preemptionPolicy", "PreemptLowerPriority")


def _service(service: JSON) -> None:
    spec = service.setdefault("spec", {})
    fixed = {"type": "ClusterIP", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster"}
    service["spec"] = spec = fixed | spec
    for port in spec.get("ports", ()):
        port.setdefault("protocol", "TCP")
        # Go clients write 0 for a port that they leave out: IntOrString is a struct, which is never empty.
        port["targetPort"] = port.get("targetPort") or port.get("port")


def _definition(definition: JSON) -> None:
    spec = definition.setdefault("spec", {})
    spec.setdefault("conversion", {"strategy": "None"})
    names = spec.setdefault("names", {})
    if kind := names.get("kind"):
        names.setdefault("singular", kind.lower())
        names.setdefault("listKind", f"{kind}List")


def _policy(policy: JSON) -> None:
    spec = policy.setdefault("spec", {})
    spec.setdefault("failurePolicy", "Fail")
    constraints = spec.setdefault("matchConstraints", {})
    constraints.setdefault("matchPolicy", "Equivalent")
    constraints.setdefault("namespaceSelector", {})
    constraints.setdefault("objectSelector", {})
    for rule in constraints.get("resourceRules", ()):
        rule.setdefault("scope", "*")


def _webhooks(configuration: JSON) -> None:
    mutating = {"reinvocationPolicy": "Never"} if configuration["kind"].startswith("Mutating") else {}
    for hook in configuration.get("webhooks", ()):
        for field, value in {**_WEBHOOK, **mutating}.items():
            hook.setdefault(field, copy.copy(value))
        for rule in hook.get("rules", ()):
            rule.setdefault("scope", "*")
        if "service" in hook.get("clientConfig", {}):
            hook["clientConfig"]["service"].setdefault("port", 443)


_WEBHOOK: JSON = {
    "failurePolicy": "Fail",
    "matchPolicy": "Equivalent",
    "namespaceSelector": {},
    "objectSelector": {},
    "timeoutSeconds": 10,
}


def _endpoints(endpoints: JSON) -> None:
    for subset in endpoints.get("subsets", ()):
        for port in subset.get("ports", ()):
            port.setdefault("protocol", "TCP")


def _endpoint_slice(found: JSON) -> None:
    for endpoint in found.get("endpoints", ()):
        endpoint.setdefault("conditions", {})
    for port in found.get("ports", ()):
        port.update({"name": "", "protocol": "TCP", **port})


def _event(event: JSON) -> None:
    event.setdefault("source" if event["apiVersion"] == "v1" else "deprecatedSource", {})


def _role_binding(binding: JSON) -> None:
    for subject in binding.get("subjects", ()):
        if subject.get("kind") in ("User", "Group"):
            subject.setdefault("apiGroup", "rbac.authorization.k8s.io")


def _storage_class(found: JSON) -> None:
    found.setdefault("reclaimPolicy", "Delete")
    found.setdefault("volumeBindingMode", "Immediate")


_DEFAULTS: dict[str, Callable[[JSON], None]] = {
    "CustomResourceDefinition": _definition,
    "CronJob": workload_defaults.cron_job,
    "DaemonSet": workload_defaults.daemon_set,
    "Deployment": workload_defaults.deployment,
    "Job": workload_defaults.job,
    "MutatingAdmissionPolicy": _policy,
    "MutatingWebhookConfiguration": _webhooks,
    "Namespace": _namespace,
    "Node": _node,
    "Pod": default_pod,
    "PriorityClass": _priority_class,
    "ReplicaSet": workload_defaults.replica_set,
    "ClusterRoleBinding": _role_binding,
    "Endpoints": _endpoints,
    "EndpointSlice": _endpoint_slice,
    "Event": _event,
    "RoleBinding": _role_binding,
    "Secret": _secret,
    "StorageClass": _storage_class,
    "Service": _service,
    "StatefulSet": workload_defaults.stateful_set,
    "ValidatingAdmissionPolicy": _policy,
    "ValidatingWebhookConfiguration": _webhooks,
}
