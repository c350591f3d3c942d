"""When a Job has ended, how, and how it says so.

Stands for the terminal conditions of the job controller. First the Job says what it will end as (SuccessCriteriaMet
or FailureTarget), and when no pod of it runs any more, that it has (Complete or Failed).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gpuyard.writes import JSON
from gpuyard_cluster.controllers import job_counts, pods
from gpuyard_cluster.controllers.decisions import Note
from gpuyard_cluster.controllers.job_counts import Counts
from gpuyard_kube.timestamps import seconds

JOBS = "/apis/batch/v1/jobs"


@dataclass(frozen=True, slots=True)
class Ending:
    """What a Job ends as, and why."""

    failed: bool
    reason: str
    message: str


_SUCCESS = Ending(False, "CompletionsReached", "Reached expected number of succeeded pods")
_TOO_OFTEN = Ending(True, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
_TOO_LONG = Ending(True, "DeadlineExceeded", "Job was active longer than specified deadline")


def decided(job: JSON, counts: Counts, now: float) -> tuple[Ending | None, float | None]:
    """What the Job ends as, if that is known; else the moment at which it has been running for too long."""
    said = next((_said(found) for found in _conditions(job) if _said(found)), None)
    if said is not None:
        return said, None
    spec, started = job["spec"], seconds((job.get("status") or {}).get("startTime"))
    if ruled := _ruled(job, counts):
        return ruled, None
    if counts.failed > spec.get("backoffLimit", 6) or _restarted_too_often(spec, counts):
        return _TOO_OFTEN, None
    if _enough(job, counts):
        return _SUCCESS, None
    limit = spec.get("activeDeadlineSeconds")
    if limit is None or started is None or spec.get("suspend"):
        return None, None
    return (_TOO_LONG, None) if started + limit <= now else (None, started + limit)


def conditions(job: JSON, counts: Counts, ending: Ending | None, now: str) -> tuple[list[JSON], list[Note]]:
    """The conditions of the status, and what people are told of the change."""
    found, notes = list(_conditions(job)), list[Note]()
    if ending is None:
        return _suspension(job, found, now)
    kind = "FailureTarget" if ending.failed else "SuccessCriteriaMet"
    if not has(found, kind):
        found.append(_condition(kind, "True", ending.reason, ending.message, now))
    elif not counts.active and not counts.terminating and not any(counts.uncounted) and _all_counted(job):
        found.append(
            _condition("Failed" if ending.failed else "Complete", "True", ending.reason, ending.message, now)
        )
        text, reason = (ending.message, ending.reason) if ending.failed else ("Job completed", "Completed")
        notes.append(Note(job, reason, text, ending.failed))
    return found, notes


def has(conditions: Sequence[JSON], kind: str) -> bool:
    return any(found["type"] == kind and found["status"] == "True" for found in conditions)


def ended(job: JSON) -> bool:
    return has(_conditions(job), "Complete") or has(_conditions(job), "Failed")


def deletion_at(job: JSON) -> float | None:
    """When ttlSecondsAfterFinished is over; None without it."""
    ttl = job["spec"].get("ttlSecondsAfterFinished")
    end = next((item for item in _conditions(job) if item["type"] in ("Complete", "Failed")), {})
    finished = seconds(end.get("lastTransitionTime"))
    return None if ttl is None or finished is None else finished + ttl


def _conditions(job: JSON) -> Sequence[JSON]:
    found: Sequence[JSON] = (job.get("status") or {}).get("conditions") or ()
    return found


def _said(found: JSON) -> Ending | None:
    if found["type"] not in ("SuccessCriteriaMet", "FailureTarget") or found["status"] != "True":
        return None
    return Ending(found["type"] == "FailureTarget", found.get("reason", ""), found.get("message", ""))


def _all_counted(job: JSON) -> bool:
    waiting = (job.get("status") or {}).get("uncountedTerminatedPods") or {}
    return not (waiting.get("succeeded") or waiting.get("failed"))


def _restarted_too_often(spec: JSON, counts: Counts) -> bool:
    """Where containers restart in their pod, each restart is a failure."""
    if spec["template"]["spec"].get("restartPolicy") != "OnFailure":
        return False
    statuses = [
        found
        for pod in counts.active
        for part in ("initContainerStatuses", "containerStatuses")
        for found in (pod.get("status") or {}).get(part) or ()
    ]
    restarts, limit = sum(found.get("restartCount", 0) for found in statuses), spec.get("backoffLimit", 6)
    return bool(restarts > 0 if limit == 0 else restarts >= limit)


def _enough(job: JSON, counts: Counts) -> bool:
    completions = job["spec"].get("completions")
    if completions is None:
        return counts.succeeded > 0 and not counts.active
    done = len(counts.done) if job_counts.indexed(job) else counts.succeeded
    return bool(done >= completions)


def _ruled(job: JSON, counts: Counts) -> Ending | None:
    """A rule of podFailurePolicy by exit codes that fails the Job at once."""
    rules = (job["spec"].get("podFailurePolicy") or {}).get("rules") or ()
    for rule in rules:
        codes = rule.get("onExitCodes")
        if rule.get("action") != "FailJob" or not codes:
            continue
        for pod in counts.pods:
            for name, code in _exit_codes(pod):
                listed = code in codes["values"]
                chosen = codes.get("containerName") in (None, "", name)
                if chosen and code and listed == (codes["operator"] == "In"):
                    return _by_rule(pod, name, code, list(rules).index(rule))
    return None


def _by_rule(pod: JSON, container: str, code: int, number: int) -> Ending:
    place = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
    what = f"Container {container} for pod {place} failed with exit code {code}"
    message = f"{what} matching FailJob rule at index {number}"
    return Ending(True, "PodFailurePolicy", message)


def _exit_codes(pod: JSON) -> list[tuple[str, int]]:
    if pods.phase(pod) != "Failed":
        return []
    ends = [
        (found["name"], (found.get("state") or {}).get("terminated"))
        for found in (pod.get("status") or {}).get("containerStatuses") or ()
    ]
    return [(name, end["exitCode"]) for name, end in ends if end]


def _suspension(job: JSON, found: list[JSON], now: str) -> tuple[list[JSON], list[Note]]:
    wanted = bool(job["spec"].get("suspend"))
    known = next((item for item in found if item["type"] == "Suspended"), None)
    if (known is None and not wanted) or (known is not None and known["status"] == str(wanted)):
        return found, []
    word = "Suspended" if wanted else "Resumed"
    changed = _condition("Suspended", str(wanted), f"Job{word}", f"Job {word.lower()}", now)
    others = [item for item in found if item["type"] != "Suspended"]
    return [*others, changed], [Note(job, word, f"Job {word.lower()}")]


def _condition(kind: str, truth: str, reason: str, message: str, now: str) -> JSON:
    told = {"type": kind, "status": truth, "reason": reason, "message": message}
    return {**told, "lastProbeTime": now, "lastTransitionTime": now}
