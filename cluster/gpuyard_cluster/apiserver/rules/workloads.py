"""Workloads: what makes pods from a template.

Stands for the `Validate*` functions of the apps and batch groups, as far as a pod made from the template could fail.
"""

from collections.abc import Iterator

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import Cause
from gpuyard_cluster.apiserver.rules import causes
from gpuyard_cluster.apiserver.rules.containers import one_of
from gpuyard_cluster.apiserver.rules.names import label_faults
from gpuyard_cluster.apiserver.rules.pods import spec_faults
from gpuyard_cluster.apiserver.rules.selectors import selector_faults

_STRATEGIES = ("Recreate", "RollingUpdate")
_CRON_FIELDS = 5


def workload_faults(workload: JSON) -> Iterator[Cause]:
    """Faults of a workload that selects its pods by label (Deployment, ReplicaSet, StatefulSet, DaemonSet)."""
    spec = workload.get("spec", {})
    selector = spec.get("selector")
    wanted = (selector or {}).get("matchLabels", {})
    yield from _count_faults(spec, "spec")
    if selector is None:
        yield causes.required("spec.selector")
    elif not wanted and not selector.get("matchExpressions"):
        detail = f"empty selector is invalid for {workload.get('kind', '').lower()}"
        yield causes.invalid("spec.selector", selector, detail)
    yield from selector_faults(selector or {}, "spec.selector")
    labels = spec.get("template", {}).get("metadata", {}).get("labels", {})
    if selector is None or not wanted.items() <= labels.items():
        detail = "`selector` does not match template `labels`"
        yield causes.invalid("spec.template.metadata.labels", labels, detail)
    yield from _strategy_faults(spec)
    yield from _template_faults(spec, "spec")
    yield from one_of(
        spec.get("template", {}).get("spec", {}), "restartPolicy", ("Always",), "spec.template.spec"
    )


def _strategy_faults(spec: JSON) -> Iterator[Cause]:
    """Faults of a Deployment's strategy."""
    strategy = spec.get("strategy", {})
    if strategy.get("type", "RollingUpdate") not in _STRATEGIES:
        yield causes.unsupported("spec.strategy", strategy, _STRATEGIES)
    rolling = strategy.get("rollingUpdate", {})
    if rolling and all(rolling.get(field) in (0, "0%") for field in ("maxUnavailable", "maxSurge")):
        detail = "may not be 0 when `maxSurge` is 0"
        yield causes.invalid("spec.strategy.rollingUpdate.maxUnavailable", rolling["maxUnavailable"], detail)


def job_faults(job: JSON) -> Iterator[Cause]:
    """Faults of a Job."""
    return _job_spec_faults(job.get("spec", {}), "spec")


def cron_job_faults(job: JSON) -> Iterator[Cause]:
    """Faults of a CronJob."""
    spec = job.get("spec", {})
    schedule = str(spec.get("schedule", ""))
    if not schedule:
        yield causes.required("spec.schedule")
    elif not schedule.startswith("@") and len(schedule.split()) != _CRON_FIELDS:
        detail = f"expected exactly {_CRON_FIELDS} fields, found {len(schedule.split())}: [{schedule}]"
        yield causes.invalid("spec.schedule", schedule, detail)
    yield from one_of(spec, "concurrencyPolicy", ("Allow", "Forbid", "Replace"), "spec")
    yield from _job_spec_faults(spec.get("jobTemplate", {}).get("spec", {}), "spec.jobTemplate.spec")


def _job_spec_faults(spec: JSON, path: str) -> Iterator[Cause]:
    yield from one_of(spec, "completionMode", ("Indexed", "NonIndexed"), path)
    yield from _count_faults(spec, path)
    yield from _template_faults(spec, path)
    template, place = spec.get("template", {}).get("spec", {}), f"{path}.template.spec"
    # A template's default is Always, which no Job may have: then its user has said nothing.
    if template.get("restartPolicy", "Always") == "Always":
        yield causes.required(f"{place}.restartPolicy", 'valid values: "OnFailure", "Never"')


def _count_faults(spec: JSON, path: str) -> Iterator[Cause]:
    for field in ("replicas", "parallelism", "completions", "backoffLimit"):
        if spec.get(field, 0) < 0:
            yield causes.invalid(f"{path}.{field}", spec[field], "must be greater than or equal to 0")


def _template_faults(spec: JSON, path: str) -> Iterator[Cause]:
    template = spec.get("template", {})
    yield from label_faults(template.get("metadata", {}).get("labels", {}), f"{path}.template.labels")
    yield from spec_faults(template.get("spec", {}), f"{path}.template.spec")


def selector_update_faults(old: JSON, new: JSON) -> Iterator[Cause]:
    """Faults of a change: the selector stays what it is."""
    yield from workload_faults(new)
    selector = new.get("spec", {}).get("selector")
    if selector != old.get("spec", {}).get("selector"):
        yield causes.invalid("spec.selector", selector, "field is immutable")
