"""The status of a Deployment: counts, and whether it is available and moves on.

Stands for `progress.go` and calculateStatus of the deployment controller. `kubectl rollout status` and `kubectl
wait` read nothing else.
"""

from gpuyard.writes import JSON
from gpuyard_cluster.controllers.families import Family, unavailable
from gpuyard_kube.timestamps import rfc3339, seconds


def of(found: JSON, known: Family, now: float) -> tuple[JSON, float | None]:
    """The status, and when it changes by the passing of time."""
    old = found.get("status") or {}
    status = {**_counts(found, known), "conditions": old.get("conditions") or []}
    available = _available(found, status)
    progressing, at = _progressing(found, known, status, now)
    conditions = [condition for condition in (available, progressing) if condition]
    status["conditions"] = _merged(status["conditions"], conditions, rfc3339(now))
    return {key: value for key, value in status.items() if value or key == "terminatingReplicas"}, at


def _counts(found: JSON, known: Family) -> JSON:
    def total(field: str) -> int:
        return sum((each.get("status") or {}).get(field, 0) for each in known.all)

    replicas, available = total("replicas"), total("availableReplicas")
    wanted = sum(each["spec"]["replicas"] for each in known.all)
    updated = (known.new.get("status") or {}).get("replicas", 0) if known.new is not None else 0
    return {
        "observedGeneration": found["metadata"].get("generation", 0),
        "replicas": replicas,
        "updatedReplicas": updated,
        "readyReplicas": total("readyReplicas"),
        "availableReplicas": available,
        "unavailableReplicas": max(0, wanted - available),
        "terminatingReplicas": total("terminatingReplicas"),
    }


def _available(found: JSON, status: JSON) -> JSON:
    enough = status["availableReplicas"] >= found["spec"]["replicas"] - unavailable(found)
    words = ("MinimumReplicasAvailable", "has") if enough else ("MinimumReplicasUnavailable", "does not have")
    message = f"Deployment {words[1]} minimum availability."
    return {"type": "Available", "status": str(enough), "reason": words[0], "message": message}


def _progressing(found: JSON, known: Family, status: JSON, now: float) -> tuple[JSON, float | None]:
    """None of both for a Deployment that has no deadline."""
    old: JSON = next((item for item in status["conditions"] if item["type"] == "Progressing"), {})
    deadline, name = found["spec"].get("progressDeadlineSeconds"), found["metadata"]["name"]
    if deadline is None:
        return {}, None
    if found["spec"].get("paused"):
        return _condition("Unknown", "DeploymentPaused", "Deployment is paused"), None
    if old.get("reason") == "DeploymentPaused":
        return _condition("Unknown", "DeploymentResumed", "Deployment is resumed"), None
    what = (
        f'ReplicaSet "{known.new["metadata"]["name"]}"' if known.new is not None else f'Deployment "{name}"'
    )
    if _complete(found, status):
        return _condition("True", "NewReplicaSetAvailable", f"{what} has successfully progressed."), None
    if known.new is not None and not old:
        return _created(known.new), now + deadline
    if _moved(found.get("status") or {}, status) or old.get("reason") == "NewReplicaSetAvailable":
        return _condition("True", "ReplicaSetUpdated", f"{what} is progressing."), now + deadline
    return _judged(old, what, deadline, now)


def _judged(old: JSON, what: str, deadline: int, now: float) -> tuple[JSON, float | None]:
    """Nothing moved: whether that has been so for too long."""
    since = seconds(old.get("lastUpdateTime"))
    if old.get("reason") == "ProgressDeadlineExceeded" or since is None:
        return old, None
    if since + deadline <= now:
        message = f"{what} has timed out progressing."
        return _condition("False", "ProgressDeadlineExceeded", message), None
    return old, since + deadline


def _created(new: JSON) -> JSON:
    return _condition("True", "NewReplicaSetCreated", f'Created new replica set "{new["metadata"]["name"]}"')


def _condition(truth: str, reason: str, message: str) -> JSON:
    return {"type": "Progressing", "status": truth, "reason": reason, "message": message}


def _complete(found: JSON, status: JSON) -> bool:
    wanted = found["spec"]["replicas"]
    counts = (status["updatedReplicas"], status["replicas"], status["availableReplicas"])
    return counts == (wanted, wanted, wanted)


def _moved(old: JSON, new: JSON) -> bool:
    """Whether there are more of the new, fewer of the old, or more that are ready or available."""

    def of(status: JSON) -> tuple[int, int, int, int]:
        updated = status.get("updatedReplicas", 0)
        fewer_old = updated - status.get("replicas", 0)
        return updated, fewer_old, status.get("readyReplicas", 0), status.get("availableReplicas", 0)

    return any(later > before for before, later in zip(of(old), of(new), strict=True))


def _merged(present: list[JSON], conditions: list[JSON], now: str) -> list[JSON]:
    """Conditions in the order in which they first came; those that say the same keep their times."""
    found = {item["type"]: item for item in present}
    for condition in conditions:
        old = found.get(condition["type"], {})
        if all(old.get(key) == condition.get(key) for key in ("status", "reason", "message")):
            continue
        kept = old.get("lastTransitionTime") if old.get("status") == condition["status"] else None
        found[condition["type"]] = {
            **condition,
            "lastTransitionTime": kept or now,
            "lastUpdateTime": now,
        }
    return list(found.values())
