"""The scale of an object: its replicas, whatever its kind calls them.

Stands for the `scale` subresources of kube-apiserver. The paths of a custom resource come from its definition.
"""

from typing import Any

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import Cause, invalid
from gpuyard_cluster.apiserver.routing import Target

_BUILTIN = {
    "specReplicasPath": ".spec.replicas",
    "statusReplicasPath": ".status.replicas",
    "labelSelectorPath": ".spec.selector.matchLabels",
}
_COPIED = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def scale_of(target: Target, obj: JSON) -> JSON:
    """The autoscaling/v1 Scale of an object."""
    paths = _paths(target)
    status = {"replicas": _at(obj, paths.get("statusReplicasPath", "")) or 0}
    if selector := _selector(_at(obj, paths.get("labelSelectorPath", ""))):
        status["selector"] = selector
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {key: obj["metadata"][key] for key in _COPIED if key in obj["metadata"]},
        "spec": {"replicas": replicas} if (replicas := _at(obj, paths["specReplicasPath"])) else {},
        "status": status,
    }


def scaled(target: Target, obj: JSON, scale: JSON) -> JSON:
    """The object with the replicas of `scale`, in the version that `scale` was made from; 422 for a bad number."""
    replicas = (scale.get("spec") or {}).get("replicas", 0)
    if not isinstance(replicas, int) or replicas < 0:
        message = f"Invalid value: {replicas}: must be greater than or equal to 0"
        custom = target.resource.custom
        kind = target.resource.qualified_kind if custom else "Scale.autoscaling"
        field = _paths(target)["specReplicasPath"] if custom else "spec.replicas"
        raise invalid(kind, target.name, [Cause(field, "FieldValueInvalid", message)])
    version = (scale.get("metadata") or {}).get("resourceVersion") or obj["metadata"]["resourceVersion"]
    changed = {**obj, "metadata": {**obj["metadata"], "resourceVersion": version}}
    return _with(changed, _steps(_paths(target)["specReplicasPath"]), replicas)


def _paths(target: Target) -> dict[str, str]:
    found = target.resource.subresource("scale")
    return dict(found.paths) if found is not None and found.paths else _BUILTIN


def _steps(path: str) -> list[str]:
    return [step for step in path.split(".") if step]


def _at(obj: Any, path: str) -> Any:
    steps = _steps(path)
    for step in steps:
        obj = obj.get(step) if isinstance(obj, dict) else None
    return obj if steps else None


def _with(obj: JSON, steps: list[str], value: Any) -> JSON:
    first, *rest = steps
    inner = obj.get(first)
    return {**obj, first: _with(inner if isinstance(inner, dict) else {}, rest, value) if rest else value}


def _selector(found: Any) -> str:
    """A selector as text: custom resources keep text, built-in kinds keep labels."""
    if isinstance(found, dict):
        return ",".join(f"{key}={value}" for key, value in sorted(found.items()))
    return found or ""
