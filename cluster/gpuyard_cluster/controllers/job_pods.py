"""The pods that a Job makes next, and the ones that it drops.

Stands for manageJob of the job controller and its back-off: after n failures in a row the next pod comes 10 s *
2^(n-1) after the last one, 10 minutes at most.
"""

from collections import Counter

from gpuyard.writes import JSON
from gpuyard_cluster.controllers import job_counts, pods
from gpuyard_cluster.controllers.decisions import Act
from gpuyard_cluster.controllers.job_counts import FINALIZER, INDEX, Counts
from gpuyard_kube.timestamps import seconds

FIRST_BACK_OFF, LONGEST_BACK_OFF = 10.0, 600.0


def changes(job: JSON, counts: Counts, now: float) -> tuple[list[Act], float | None]:
    """Pods to make or to drop, and when to look again because a back-off ends."""
    wanted = _wanted(job, counts)
    if len(counts.active) > wanted:
        surplus = pods.by_dispensability(counts.active)[: len(counts.active) - wanted]
        return [act for pod in surplus for act in dropped(pod, job)], None
    missing = wanted - len(counts.active) - counts.terminating * _waits_for_ends(job)
    ready_at = _back_off_ends(counts)
    if missing <= 0 or (ready_at is not None and ready_at > now):
        return [], ready_at if missing > 0 else None
    if job_counts.indexed(job):
        return [pods.create(_indexed_pod(job, index), job) for index in _free(job, counts, missing)], None
    return [pods.create(_pod(job), job) for _ in range(min(missing, pods.BURST))], None


def dropped(pod: JSON, job: JSON) -> list[Act]:
    """Delete a pod that is to count for nothing."""
    return [*([job_counts.free(pod)] if job_counts.held(pod) else ()), pods.remove(pod, job)]


def _wanted(job: JSON, counts: Counts) -> int:
    """How many pods should run now. Without completions, none is started after the first success."""
    parallel, completions = job["spec"].get("parallelism", 1), job["spec"].get("completions")
    if completions is None:
        return len(counts.active) if counts.succeeded else parallel
    done = len(counts.done) if job_counts.indexed(job) else counts.succeeded
    return int(min(parallel, completions - done))


def _waits_for_ends(job: JSON) -> bool:
    return bool(job["spec"].get("podReplacementPolicy") == "Failed")


def _back_off_ends(counts: Counts) -> float | None:
    """The end of the wait after the failures since the last success; None without any."""
    succeeded_at = max((_ended_at(pod) for pod in counts.pods if job_counts.succeeded(pod)), default=0.0)
    failures = [_ended_at(pod) for pod in counts.pods if pods.phase(pod) == "Failed"]
    row = [moment for moment in failures if moment >= succeeded_at]
    if not row:
        return None
    waits = min(len(row) - 1, 10)  # beyond it, the longest wait holds in any case
    return max(row) + min(FIRST_BACK_OFF * 2.0**waits, LONGEST_BACK_OFF)


def _ended_at(pod: JSON) -> float:
    status = pod.get("status") or {}
    ends = [
        seconds(((found.get("state") or {}).get("terminated") or {}).get("finishedAt"))
        for found in status.get("containerStatuses") or ()
    ]
    known = [end for end in ends if end is not None]
    return max(known) if known else seconds(pod["metadata"].get("creationTimestamp")) or 0.0


def _free(job: JSON, counts: Counts, missing: int) -> list[int]:
    """The lowest indexes that have not succeeded and that nobody works on."""
    busy = Counter(job_counts.index_of(pod) for pod in counts.active)
    taken = counts.done | busy.keys()
    free = [index for index in range(job["spec"]["completions"]) if index not in taken]
    return free[: min(missing, pods.BURST)]


def _pod(job: JSON) -> JSON:
    named = {"generateName": f"{job['metadata']['name']}-", "finalizers": [FINALIZER]}
    return pods.made_from(job["spec"]["template"], job, named)


def _indexed_pod(job: JSON, index: int) -> JSON:
    name, mark = f"{job['metadata']['name']}-{index}", {INDEX: str(index)}
    named = {"generateName": f"{name}-", "finalizers": [FINALIZER], "labels": mark, "annotations": mark}
    pod = pods.made_from(job["spec"]["template"], job, named)
    pod["spec"].setdefault("hostname", name)
    field = {"fieldRef": {"fieldPath": f"metadata.labels['{INDEX}']"}}
    for container in [*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"]]:
        known = container.setdefault("env", [])
        if not any(variable["name"] == "JOB_COMPLETION_INDEX" for variable in known):
            known.append({"name": "JOB_COMPLETION_INDEX", "valueFrom": field})
    return pod
