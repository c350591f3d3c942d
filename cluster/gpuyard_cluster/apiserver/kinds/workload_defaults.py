"""Defaults of workloads: what makes pods from a template.

Stands for the `SetDefaults_*` functions of the apps and batch groups.
"""

import copy
from collections.abc import Callable
from typing import Any

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.kinds.pod_defaults import default_pod_spec

_ROLLING = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}}
_DAEMON_ROLLING = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}}
_STATEFUL_ROLLING = {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
_NO_LIMIT = 2**31 - 1
_KEPT_CLAIMS = {"whenDeleted": "Retain", "whenScaled": "Retain"}


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


def job(job: JSON) -> None:
    """How many completions follows from how many pods run at a time only where neither is said."""
    spec = _template(job)
    alone = {} if "parallelism" in spec else {"completions": 1}
    limit = _NO_LIMIT if "backoffLimitPerIndex" in spec else 6
    fixed = {"parallelism": 1, **alone, "backoffLimit": limit, "completionMode": "NonIndexed"}
    fixed |= {"suspend": False, "manualSelector": False}
    rules = spec.get("podFailurePolicy")
    job["spec"] = {**fixed, "podReplacementPolicy": "Failed" if rules else "TerminatingOrFailed", **spec}


def cron_job(job: JSON) -> None:
    spec = job.setdefault("spec", {})
    fixed = {"concurrencyPolicy": "Allow", "suspend": False}
    job["spec"] = {**fixed, "successfulJobsHistoryLimit": 3, "failedJobsHistoryLimit": 1, **spec}
    template = job["spec"].setdefault("jobTemplate", {})
    template.setdefault("metadata", {})
    _template(template).setdefault("template", {}).setdefault("metadata", {})


def daemon_set(daemon_set: JSON) -> None:
    _workload(updateStrategy=_DAEMON_ROLLING, revisionHistoryLimit=10)(daemon_set)
    metadata = daemon_set["metadata"]
    metadata.setdefault("annotations", {}).setdefault("deprecated.daemonset.template.generation", "1")


deployment = _workload(replicas=1, strategy=_ROLLING, revisionHistoryLimit=10, progressDeadlineSeconds=600)
replica_set = _workload(replicas=1)
stateful_set = _workload(
    replicas=1,
    podManagementPolicy="OrderedReady",
    updateStrategy=_STATEFUL_ROLLING,
    persistentVolumeClaimRetentionPolicy=_KEPT_CLAIMS,
    revisionHistoryLimit=10,
)
