"""The priority of a pod, from its class.

Stands for the admission plugin Priority and the two classes that kube-apiserver always has.
"""

from collections.abc import Iterable

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import forbidden

SYSTEM_CLASSES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""Built-in classes and their values."""


def admit(pod: JSON, classes: Iterable[JSON]) -> None:
    """Set spec.priority and preemptionPolicy of a new pod, in place.

    `classes` are the PriorityClass objects of the cluster. ApiError 403 for an unknown class or for a priority
    that the user computed otherwise.
    """
    spec, name = pod["spec"], pod.get("metadata", {}).get("name", "")
    wanted = spec.get("priorityClassName")
    chosen = _system_class(wanted) or _by_name(classes, wanted) if wanted else _global_default(classes)
    if wanted and chosen is None:
        raise forbidden("pods", name, f"no PriorityClass with name {wanted} was found")
    value, policy = 0, "PreemptLowerPriority"
    if chosen is not None:
        spec["priorityClassName"] = chosen["metadata"]["name"]
        value, policy = chosen["value"], chosen.get("preemptionPolicy", policy)
    if spec.setdefault("priority", value) != value:
        why = "the integer value of priority must not be provided in pod spec; "
        raise forbidden(
            "pods", name, f"{why}priority admission controller computed {value} from the given class"
        )
    if spec.setdefault("preemptionPolicy", policy) != policy:
        why = f"the string value of PreemptionPolicy ({spec['preemptionPolicy']}) must not be provided in pod spec; "
        raise forbidden(
            "pods", name, f"{why}priority admission controller computed {policy} from the given class"
        )


def _by_name(classes: Iterable[JSON], name: str) -> JSON | None:
    return next((found for found in classes if found["metadata"]["name"] == name), None)


def _system_class(name: str) -> JSON | None:
    return {"metadata": {"name": name}, "value": SYSTEM_CLASSES[name]} if name in SYSTEM_CLASSES else None


def _global_default(classes: Iterable[JSON]) -> JSON | None:
    candidates = [found for found in classes if found.get("globalDefault")]
    return min(candidates, key=lambda found: (found["value"], found["metadata"]["name"]), default=None)
