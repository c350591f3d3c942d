"""Workloads: what makes pods from a template.

Stands for the `Validate*` functions of the apps and batch groups, as far as a pod made from the template could fail.
"""

from collections.abc import Iterator

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import Cause
from gpuyard_cluster.apiserver.rules import causes
from gpuyard_cluster.apiserver.rules.names import label_faults
from gpuyard_cluster.apiserver.rules.pods import spec_faults
from gpuyard_cluster.apiserver.rules.selectors import selector_faults


def workload_faults(workload: JSON) -> Iterator[Cause]:
    """Faults of a workload that selects its pods by label (Deployment, ReplicaSet, StatefulSet, DaemonSet)."""
    spec = workload.get("spec", {})
    selector = spec.get("selector", {})
    wanted = selector.get("matchLabels", {})
    if not wanted and not selector.get("matchExpressions"):
        yield causes.required("spec.selector")
    yield from selector_faults(selector, "spec.selector")
    labels = spec.get("template", {}).get("metadata", {}).get("labels", {})
    if not wanted.items() <= labels.items():
        detail = "`selector` does not match template `labels`"
        yield causes.invalid("spec.template.metadata.labels", labels, detail)
    yield from job_faults(workload)


def job_faults(workload: JSON) -> Iterator[Cause]:
    """Faults of the counts and of the pod template."""
    spec = workload.get("spec", {})
    for field in ("replicas", "parallelism", "completions", "backoffLimit"):
        if spec.get(field, 0) < 0:
            yield causes.invalid(f"spec.{field}", spec[field], "must be greater than or equal to 0")
    template = spec.get("template", {})
    yield from label_faults(template.get("metadata", {}).get("labels", {}), "spec.template.labels")
    yield from spec_faults(template.get("spec", {}), "spec.template.spec")


def selector_update_faults(old: JSON, new: JSON) -> Iterator[Cause]:
    """Faults of a change: the selector stays what it is."""
    yield from workload_faults(new)
    selector = new.get("spec", {}).get("selector")
    if selector != old.get("spec", {}).get("selector"):
        yield causes.invalid("spec.selector", selector, "field is immutable")
