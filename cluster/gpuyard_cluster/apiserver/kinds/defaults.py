"""Defaults of built-in kinds: what a user may leave out, filled in before validation.

Stands for the `SetDefaults_*` functions of `k8s.io/kubernetes/pkg/apis` and the `PrepareForCreate` of the registries.
"""

import base64
import copy
from collections.abc import Callable
from typing import Any

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.kinds import kinds
from gpuyard_cluster.apiserver.kinds.pod_defaults import default_pod, default_pod_spec, qos_class

NAMESPACE_NAME = "kubernetes.io/metadata.name"
"""The label that every namespace carries: its own name."""


def apply_defaults(kind: str, obj: JSON) -> None:
    """Fill in an object of a built-in kind, in place: at creation and at every change."""
    _always_there(obj, "spec")
    if default := _DEFAULTS.get(kind):
        default(obj)


def prepare_create(kind: str, obj: JSON) -> None:
    """Set what a new object starts with (after defaults and admission), in place."""
    _always_there(obj, "status")
    if prepare := _PREPARE.get(kind):
        prepare(obj)


def _always_there(obj: JSON, part: str) -> None:
    """Spec and status are Go structs: the encoder writes them even when they are empty."""
    name = kinds.type_of(obj.get("apiVersion", ""), obj.get("kind", ""))
    if name and part in kinds.fields(name):
        obj.setdefault(part, {})


def _new_pod(pod: JSON) -> None:
    pod["status"] = {"phase": "Pending", "qosClass": qos_class(pod["spec"])}
    if pod["spec"].get("schedulingGates"):
        gated = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
        }
        pod["status"]["conditions"] = [gated]


def _new_namespace(namespace: JSON) -> None:
    spec = namespace.setdefault("spec", {})
    spec["finalizers"] = list(dict.fromkeys([*spec.get("finalizers", ()), "kubernetes"]))
    namespace["status"] = {"phase": "Active"}


def _new_job(job: JSON) -> None:
    """A Job selects its pods by its own uid, unless its user says how (generateSelector of the batch registry)."""
    spec, metadata = job["spec"], job["metadata"]
    if spec.get("manualSelector"):
        return
    uid, name = metadata["uid"], metadata.get("name", "")
    marks = {
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": name,
        "controller-uid": uid,
        "job-name": name,
    }
    template = spec.setdefault("template", {}).setdefault("metadata", {})
    template["labels"] = {**(template.get("labels") or {}), **marks}
    spec["selector"] = {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    # A Job without labels shows those of its template (SetDefaults_Job).
    metadata["labels"] = metadata.get("labels") or dict(template["labels"])


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
        port.setdefault("targetPort", port.get("port"))


def _template(workload: JSON) -> JSON:
    """The spec of a workload, its pod template filled in."""
    spec: JSON = workload.setdefault("spec", {})
    if "template" in spec:
        default_pod_spec(spec["template"].setdefault("spec", {}))
    return spec


def _workload(**fixed: Any) -> Callable[[JSON], None]:
    def default(workload: JSON) -> None:
        workload["spec"] = _filled(copy.deepcopy(fixed), _template(workload))

    return default


def _filled(defaults: JSON, given: JSON) -> JSON:
    """What was given over the defaults. Below a strategy of another type than the default's nothing is filled in."""
    both = {
        key for key, value in given.items() if isinstance(value, dict) and isinstance(defaults.get(key), dict)
    }
    if given.get("type", defaults.get("type")) != defaults.get("type"):
        return given
    return {**defaults, **given, **{key: _filled(defaults[key], given[key]) for key in both}}


def _job(job: JSON) -> None:
    """How many completions follows from how many pods run at a time only where neither is said."""
    spec = _template(job)
    alone = {} if "parallelism" in spec else {"completions": 1}
    fixed = {"parallelism": 1, **alone, "backoffLimit": 6, "completionMode": "NonIndexed", "suspend": False}
    rules = spec.get("podFailurePolicy")
    job["spec"] = {**fixed, "podReplacementPolicy": "Failed" if rules else "TerminatingOrFailed", **spec}


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
_ROLLING = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}}
_DAEMON_ROLLING = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}}
_STATEFUL_ROLLING = {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}

_DEFAULTS: dict[str, Callable[[JSON], None]] = {
    "CustomResourceDefinition": _definition,
    "DaemonSet": _workload(updateStrategy=_DAEMON_ROLLING, revisionHistoryLimit=10),
    "Deployment": _workload(
        replicas=1, strategy=_ROLLING, revisionHistoryLimit=10, progressDeadlineSeconds=600
    ),
    "Job": _job,
    "MutatingAdmissionPolicy": _policy,
    "MutatingWebhookConfiguration": _webhooks,
    "Namespace": _namespace,
    "Node": _node,
    "Pod": default_pod,
    "PriorityClass": _priority_class,
    "ReplicaSet": _workload(replicas=1),
    "Secret": _secret,
    "Service": _service,
    "StatefulSet": _workload(
        replicas=1,
        podManagementPolicy="OrderedReady",
        updateStrategy=_STATEFUL_ROLLING,
        revisionHistoryLimit=10,
    ),
    "ValidatingAdmissionPolicy": _policy,
    "ValidatingWebhookConfiguration": _webhooks,
}
_PREPARE: dict[str, Callable[[JSON], None]] = {
    "Job": _new_job,
    "Namespace": _new_namespace,
    "Pod": _new_pod,
}
