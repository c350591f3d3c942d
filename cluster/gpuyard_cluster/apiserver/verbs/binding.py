"""Binding a pod to a node.

Stands for `pods/binding` of kube-apiserver. Law: node, PodScheduled, labels and annotations arrive in one change; a
pod is bound once. Whether the node exists is not asked.
"""

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.admission import admission
from gpuyard_cluster.apiserver.backend import Backend
from gpuyard_cluster.apiserver.errors import ApiError, Cause, conflict
from gpuyard_cluster.apiserver.kinds.conditions import with_condition
from gpuyard_cluster.apiserver.routing import Target
from gpuyard_cluster.apiserver.rules import metadata
from gpuyard_cluster.apiserver.storage import commits
from gpuyard_cluster.apiserver.wire.options import WriteOptions


def bind(backend: Backend, target: Target, binding: JSON, options: WriteOptions) -> None:
    """Bind the target's pod; 409 when it cannot be bound."""
    metadata.place(target, binding["metadata"])
    attempt = admission.Attempt("CREATE", target, None, options)
    binding = admission.mutate(backend, attempt, binding)
    admission.validate(backend, attempt, binding)
    given = binding["metadata"]
    node = _node(binding)
    pod = backend.read(target).copy()
    preconditions = {key: given.get(key) for key in ("uid", "resourceVersion")}
    metadata.check_preconditions(target, pod["metadata"], preconditions)
    if why := _obstacle(pod):
        raise conflict("pods/binding", target.name, why)
    pod["spec"]["nodeName"] = node
    for key in ("labels", "annotations"):
        if given.get(key):
            pod["metadata"][key] = {**pod["metadata"].get(key, {}), **given[key]}
    scheduled = {"type": "PodScheduled", "status": "True", "lastProbeTime": None}
    # The place that it was promised it has now, or does not need (ClearingNominatedNodeNameAfterBinding).
    status = {key: value for key, value in pod.get("status", {}).items() if key != "nominatedNodeName"}
    pod["status"] = with_condition(status, scheduled, backend.timestamp())
    commits.put(backend, target, pod, dry_run=options.dry_run)


def _node(binding: JSON) -> str:
    aim = binding.get("target") or {}
    causes = []
    if aim.get("kind") not in (None, "", "Node"):
        message = f'Unsupported value: "{aim["kind"]}": supported values: "Node", "<empty>"'
        causes.append(Cause("target.kind", "FieldValueNotSupported", message))
    if not aim.get("name"):
        causes.append(Cause("target.name", "FieldValueRequired", "Required value"))
    if causes:  # the real server takes this for an error of its own
        raise ApiError(500, "", ", ".join(f"{cause.field}: {cause.message}" for cause in causes))
    return str(aim["name"])


def _obstacle(pod: JSON) -> str:
    """Why the pod cannot be bound; empty when it can."""
    name, spec = pod["metadata"]["name"], pod["spec"]
    if pod["metadata"].get("deletionTimestamp"):
        return f"pod {name} is being deleted, cannot be assigned to a host"
    if spec.get("nodeName"):
        return f'pod {name} is already assigned to node "{spec["nodeName"]}"'
    if spec.get("schedulingGates"):
        return f"pod {name} has non-empty .spec.schedulingGates"
    return ""
