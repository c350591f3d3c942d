"""How many pods of a Job run, have succeeded and have failed, each counted once.

Stands for the job controller's tracking with finalizers: what ended goes by uid into
status.uncountedTerminatedPods, then its finalizer is taken off, then it is counted. At any moment a crash loses
nothing.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from gpuyard.pods.phases import has_ended
from gpuyard.writes import JSON
from gpuyard_cluster.controllers import pods
from gpuyard_cluster.controllers.decisions import Act, patch
from gpuyard_cluster.controllers.objects import controller_of, controller_uid

FINALIZER = "batch.kubernetes.io/job-tracking"
INDEX = "batch.kubernetes.io/job-completion-index"
NAME = "batch.kubernetes.io/job-name"


@dataclass(frozen=True, slots=True)
class Counts:
    """`pods` are all that there are; `succeeded` and `failed` include what is not in the status yet."""

    pods: Sequence[JSON]
    active: Sequence[JSON]
    terminating: int
    ready: int
    succeeded: int
    failed: int
    done: frozenset[int]
    """The indexes that have succeeded, of an indexed Job."""
    uncounted: tuple[tuple[str, ...], tuple[str, ...]]
    """The uids that wait to be counted: of succeeded and of failed pods."""
    settled: tuple[int, int]
    """What the status may say now: without those that wait."""


def of(job: JSON, mine: Sequence[JSON]) -> Counts:
    """Count. A pod that somebody deletes before it ended counts as failed: it may never get to say so itself."""
    status = job.get("status") or {}
    waiting = status.get("uncountedTerminatedPods") or {}
    well, ill = set(waiting.get("succeeded") or ()), set(waiting.get("failed") or ())
    by_uid = {pod["metadata"]["uid"]: pod for pod in mine}
    settled = (
        status.get("succeeded", 0) + sum(not _held(by_uid, uid) for uid in well),
        status.get("failed", 0) + sum(not _held(by_uid, uid) for uid in ill),
    )
    left = (_waiting(mine, succeeded), _waiting(mine, failed))
    active = [pod for pod in mine if pods.active(pod)]
    done = indexes(status.get("completedIndexes", ""))
    done |= {index_of(pod) for pod in mine if succeeded(pod)}
    return Counts(
        pods=mine,
        active=active,
        terminating=sum(pods.deleting(pod) and not has_ended(pod) for pod in mine),
        ready=sum(pods.ready_since(pod) is not None for pod in active),
        succeeded=settled[0] + len(left[0]),
        failed=settled[1] + len(left[1]),
        done=frozenset(done) if indexed(job) else frozenset(),
        uncounted=left,
        settled=settled,
    )


def status(job: JSON, counts: Counts) -> JSON:
    """The counts as the status says them; of an indexed Job the indexes are what counts."""
    old = job.get("status") or {}
    waiting = {
        key: list(uids) for key, uids in zip(("succeeded", "failed"), counts.uncounted, strict=True) if uids
    }
    succeeded = len(counts.done) if indexed(job) else counts.settled[0]
    numbers = {"active": len(counts.active), "succeeded": succeeded, "failed": counts.settled[1]}
    return {
        **{key: value for key, value in old.items() if key not in numbers and key != "completedIndexes"},
        **{key: number for key, number in numbers.items() if number},
        **({"completedIndexes": ranges(counts.done)} if counts.done else {}),
        "ready": counts.ready,
        "terminating": counts.terminating,
        "uncountedTerminatedPods": waiting,
    }


def freed(job: JSON, counts: Counts) -> list[Act]:
    """Take the finalizer off the pods that the stored status names already."""
    waiting = (job.get("status") or {}).get("uncountedTerminatedPods") or {}
    named = {*(waiting.get("succeeded") or ()), *(waiting.get("failed") or ())}
    return [free(pod) for pod in counts.pods if pod["metadata"]["uid"] in named and held(pod)]


def orphans(name: str, job: JSON | None, there: Iterable[JSON]) -> list[JSON]:
    """The pods that wait to be counted by a Job of this name that is no more; `job` is the one that is there now."""
    return [pod for pod in there if held(pod) and _job_of(pod) == name and not (job and _belongs(pod, job))]


def keys_of_orphan(pod: JSON) -> list[str]:
    """Where to look at a pod that no Job owns, nor would."""
    return [f"{pod['metadata']['namespace']}/{_job_of(pod)}"] if held(pod) else []


def _belongs(pod: JSON, job: JSON) -> bool:
    if owner := controller_uid(pod):
        return bool(owner == job["metadata"]["uid"])
    return pods.matches(job["spec"].get("selector") or {}, pod)


def _job_of(pod: JSON) -> str:
    """The name of the Job that made a pod, also when nobody owns it any more."""
    owner = controller_of(pod)
    if owner is not None:
        return str(owner["name"]) if owner["kind"] == "Job" else ""
    return str((pod["metadata"].get("labels") or {}).get(NAME, ""))


def free(pod: JSON) -> Act:
    kept = [name for name in pod["metadata"]["finalizers"] if name != FINALIZER]
    return Act(patch(pods.PODS, pod, {"metadata": {"finalizers": kept or None}}))


def held(pod: JSON) -> bool:
    return FINALIZER in (pod["metadata"].get("finalizers") or ())


def indexed(job: JSON) -> bool:
    return bool(job["spec"].get("completionMode") == "Indexed")


def index_of(pod: JSON) -> int:
    """-1 for a pod without one."""
    text = (pod["metadata"].get("annotations") or {}).get(INDEX, "")
    return int(text) if text.isdigit() else -1


def indexes(text: str) -> set[int]:
    """`0-2,5` -> 0, 1, 2, 5."""
    found = set[int]()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def ranges(numbers: Iterable[int]) -> str:
    """0, 1, 2, 5 -> `0-2,5`; two in a row are written one by one, as Kubernetes does."""
    runs = list[list[int]]()
    for number in sorted(numbers):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 2 else ",".join(map(str, run)) for run in runs)


def failed(pod: JSON) -> bool:
    """Whether the pod failed, or will."""
    return pods.phase(pod) == "Failed" or (pods.deleting(pod) and pods.phase(pod) != "Succeeded")


def succeeded(pod: JSON) -> bool:
    return pods.phase(pod) == "Succeeded"


def _waiting(mine: Iterable[JSON], ended: Callable[[JSON], bool]) -> tuple[str, ...]:
    return tuple(sorted(pod["metadata"]["uid"] for pod in mine if ended(pod) and held(pod)))


def _held(by_uid: dict[str, JSON], uid: str) -> bool:
    pod = by_uid.get(uid)
    return pod is not None and held(pod)
