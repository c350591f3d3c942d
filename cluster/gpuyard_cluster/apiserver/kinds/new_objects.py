"""What a new object starts with, after its defaults and admission.

Stands for the `PrepareForCreate` of the registries' strategies.
"""

from collections.abc import Callable, Mapping

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.kinds.defaults import always_there
from gpuyard_cluster.apiserver.kinds.pod_defaults import qos_class


def prepare_create(kind: str, obj: JSON) -> None:
    """Set what a new object starts with (after defaults and admission), in place."""
    always_there(obj, "status")
    obj.get("status", {}).update(dict.fromkeys(_COUNTS.get(kind, ()), 0))
    if prepare := _PREPARE.get(kind):
        prepare(obj)


def _new_pod(pod: JSON) -> None:
    pod["status"] = {"phase": "Pending", "qosClass": qos_class(pod["spec"])}
    if pod["spec"].get("schedulingGates"):
        gated = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
            "lastProbeTime": None,
            "lastTransitionTime": pod["metadata"]["creationTimestamp"],
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


def _new_node(node: JSON) -> None:
    """Until its kubelet says that it is ready it is not (the admission plugin TaintNodesByCondition)."""
    taints = node["spec"].get("taints") or []
    if not any((taint.get("key"), taint.get("effect")) == _NOT_READY for taint in taints):
        key, effect = _NOT_READY
        node["spec"]["taints"] = [*taints, {"key": key, "effect": effect}]
    node["status"].setdefault("daemonEndpoints", {"kubeletEndpoint": {"Port": 0}})
    node["status"].setdefault("nodeInfo", dict.fromkeys(_NODE_INFO, ""))


_NOT_READY = ("node.kubernetes.io/not-ready", "NoSchedule")
_NODE_INFO = (
    "architecture",
    "bootID",
    "containerRuntimeVersion",
    "kernelVersion",
    "kubeProxyVersion",
    "kubeletVersion",
    "machineID",
    "operatingSystem",
    "osImage",
    "systemUUID",
)
"""What Go writes of a node even where it is empty."""
_PREPARE: dict[str, Callable[[JSON], None]] = {
    "Job": _new_job,
    "Namespace": _new_namespace,
    "Node": _new_node,
    "Pod": _new_pod,
}
_COUNTS: Mapping[str, tuple[str, ...]] = {
    "DaemonSet": (
        "currentNumberScheduled",
        "desiredNumberScheduled",
        "numberMisscheduled",
        "numberReady",
    ),
    "PodDisruptionBudget": ("currentHealthy", "desiredHealthy", "disruptionsAllowed", "expectedPods"),
    "ReplicaSet": ("replicas",),
    "StatefulSet": ("availableReplicas", "replicas"),
}
"""Counts that Go writes even when they are zero."""
