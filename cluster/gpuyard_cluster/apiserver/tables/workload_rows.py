"""Deployments, jobs and the other workloads in one line, as kubectl shows them.

Stands for the workload printers of kube-apiserver. Each function gives the cells after the name at a time.
"""

from typing import Any

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.tables import ages
from gpuyard_cluster.apiserver.tables.cells import NONE, age, joined, pairs, spec_of, status_of
from gpuyard_kube.timestamps import seconds


def deployment(obj: JSON, now: float) -> list[Any]:
    spec, status = spec_of(obj), status_of(obj)
    ready = f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}"
    counts = [status.get("updatedReplicas", 0), status.get("availableReplicas", 0)]
    return [ready, *counts, age(obj, now), *_containers(obj)]


def replica_set(obj: JSON, now: float) -> list[Any]:
    status = status_of(obj)
    counts = [spec_of(obj).get("replicas", 0), status.get("replicas", 0), status.get("readyReplicas", 0)]
    return [*counts, age(obj, now), *_containers(obj)]


def stateful_set(obj: JSON, now: float) -> list[Any]:
    ready = f"{status_of(obj).get('readyReplicas', 0)}/{spec_of(obj).get('replicas', 0)}"
    return [ready, age(obj, now), *_containers(obj)[:2]]


def daemon_set(obj: JSON, now: float) -> list[Any]:
    status = status_of(obj)
    fields = ("desiredNumberScheduled", "currentNumberScheduled", "numberReady")
    counts = [status.get(field, 0) for field in (*fields, "updatedNumberScheduled", "numberAvailable")]
    selector = spec_of(obj).get("template", {}).get("spec", {}).get("nodeSelector", {})
    return [*counts, pairs(selector), age(obj, now), *_containers(obj)]


def cron_job(obj: JSON, now: float) -> list[Any]:
    spec, status = spec_of(obj), status_of(obj)
    last = status.get("lastScheduleTime")
    suspended = str(bool(spec["suspend"])) if "suspend" in spec else "<unset>"
    counts = [spec.get("schedule", ""), spec.get("timeZone", NONE), suspended, len(status.get("active", ()))]
    jobs = {"spec": spec.get("jobTemplate", {}).get("spec", {})}
    return [*counts, ages.age(last, now) if last else NONE, age(obj, now), *_containers(jobs)]


def job(job: JSON, now: float) -> list[Any]:
    spec, status = spec_of(job), status_of(job)
    wanted = spec.get("completions")
    parallel = spec.get("parallelism", 1)
    total = wanted if wanted is not None else (f"1 of {parallel}" if parallel > 1 else 1)
    started, ended = seconds(status.get("startTime")), seconds(status.get("completionTime"))
    lasted = "" if started is None else ages.duration((now if ended is None else ended) - started)
    state = _job_state(job, status)
    return [state, f"{status.get('succeeded', 0)}/{total}", lasted, age(job, now), *_containers(job)]


def _job_state(job: JSON, status: JSON) -> str:
    true = [item.get("type") for item in status.get("conditions", ()) if item.get("status") == "True"]
    found = next((kind for kind in ("Complete", "Failed", "Suspended") if kind in true), None)
    if found is None and job["metadata"].get("deletionTimestamp"):
        return "Terminating"
    return found or next(
        (kind for kind in ("FailureTarget", "SuccessCriteriaMet") if kind in true), "Running"
    )


def _containers(obj: JSON) -> list[str]:
    """Names, images and selector of a workload's pods."""
    spec = spec_of(obj)
    containers = spec.get("template", {}).get("spec", {}).get("containers", ())
    selector = spec.get("selector", {}).get("matchLabels", {})
    names = joined(item.get("name", "") for item in containers)
    images = joined(item.get("image", "") for item in containers)
    return [names, images, pairs(selector)]
