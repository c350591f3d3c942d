"""Jobs: pods that are run until enough of them have succeeded, or too many failed.

Stands for the job controller. Laws:
- A pod that ended counts once, whoever deletes it: it carries a finalizer until it is in the counts (`job_counts`).
- An index is run by one pod at a time; each failure makes the next attempt wait longer.
- A Job has ended when it says so in its conditions; then no pod of it runs any more, and its counts stay.
- A pod whose Job is gone counts for nobody, and is held by nobody.
Not here: backoffLimitPerIndex, successPolicy, and rules of podFailurePolicy by pod conditions.
"""

from collections.abc import Iterable

from gpuyard.writes import JSON
from gpuyard_cluster.controllers import job_counts, job_ends, job_pods, pods
from gpuyard_cluster.controllers.decisions import NOTHING, Act, Decision, delete, earliest, status_write
from gpuyard_cluster.controllers.job_counts import Counts
from gpuyard_cluster.controllers.job_ends import JOBS, Ending
from gpuyard_cluster.controllers.objects import Objects, key_of
from gpuyard_kube.timestamps import rfc3339


class Jobs:
    name = "job-controller"
    resources = {"jobs": JOBS, "pods": pods.PODS}

    def keys(self, resource: str, obj: JSON, objects: Objects) -> Iterable[str]:
        if resource == "jobs":
            return (key_of(obj),)
        return pods.concerned("jobs", "Job", obj, objects) or job_counts.keys_of_orphan(obj)

    def reconcile(self, key: str, objects: Objects, now: float) -> Decision:
        job = objects.get("jobs", key)
        namespace, _, name = key.partition("/")
        orphans = job_counts.orphans(name, job, objects.claimable("pods", namespace, "Job", name))
        if orphans:
            return Decision(tuple(map(job_counts.free, orphans)))
        if job is None:
            return NOTHING
        if job_ends.ended(job):
            return _after_the_end(job, objects, now)
        claimed = pods.claim(job, "pods", pods.PODS, objects)
        if claimed.acts or pods.deleting(job):
            return Decision((*claimed.acts, *_released(job, objects)))
        return _running(job, job_counts.of(job, claimed.mine), now)


def _running(job: JSON, counts: Counts, now: float) -> Decision:
    ending, deadline = job_ends.decided(job, counts, now)
    work, at = _work(job, counts, ending, now)
    conditions, notes = job_ends.conditions(job, counts, ending, rfc3339(now))
    status = {**job_counts.status(job, counts), **_start(job, now), "conditions": conditions}
    if job_ends.has(conditions, "Complete"):
        status["completionTime"] = rfc3339(now)
    status = {key: value for key, value in status.items() if value not in ([], None)}
    acts = (*status_write(JOBS, job, status), *job_counts.freed(job, counts), *work)
    return Decision(acts, tuple(notes), earliest(deadline, at), len(counts.pods))


def _work(job: JSON, counts: Counts, ending: Ending | None, now: float) -> tuple[list[Act], float | None]:
    """Pods to make or to delete. Those that fall victim to a failure count as failed, others do not count."""
    if ending is not None and ending.failed:
        return [pods.remove(pod, job) for pod in counts.active], None
    if ending is not None or job["spec"].get("suspend"):
        return [act for pod in counts.active for act in job_pods.dropped(pod, job)], None
    return job_pods.changes(job, counts, now)


def _start(job: JSON, now: float) -> JSON:
    """A Job that is resumed starts anew."""
    if job["spec"].get("suspend"):
        return {"startTime": None}
    return {"startTime": (job.get("status") or {}).get("startTime") or rfc3339(now)}


def _released(job: JSON, objects: Objects) -> list[Act]:
    """The pods of a Job that is over or goes need no more counting."""
    return [
        job_counts.free(pod) for pod in objects.owned(job["metadata"]["uid"], "pods") if job_counts.held(pod)
    ]


def _after_the_end(job: JSON, objects: Objects, now: float) -> Decision:
    """Let the pods go, and delete the Job itself after ttlSecondsAfterFinished."""
    acts, at = _released(job, objects), job_ends.deletion_at(job)
    if at is not None and at <= now and not pods.deleting(job):
        acts.append(Act(delete(JOBS, job, propagationPolicy="Foreground")))
        at = None
    return Decision(tuple(acts), at=None if pods.deleting(job) else at)
