"""What a Deployment's ReplicaSets remember: revisions, why there was a change, and how many pods were wanted.

Stands for `deployment/util` of kube-controller-manager. `kubectl rollout history` and `undo` read these annotations.
"""

from gpuyard.writes import JSON
from gpuyard_cluster.controllers.families import Family, surge

_GROUP = "deployment.kubernetes.io"
REVISION, HISTORY = f"{_GROUP}/revision", f"{_GROUP}/revision-history"
DESIRED, MOST = f"{_GROUP}/desired-replicas", f"{_GROUP}/max-replicas"
_NOT_COPIED = frozenset(
    {"kubectl.kubernetes.io/last-applied-configuration", REVISION, HISTORY, DESIRED, MOST}
)


def revision_of(obj: JSON) -> int:
    """0 where there is none."""
    text = (obj["metadata"].get("annotations") or {}).get(REVISION, "")
    return int(text) if text.isdigit() else 0


def sizes(found: JSON) -> dict[str, str]:
    """What a ReplicaSet keeps of its Deployment's size, to notice that it was changed."""
    replicas = found["spec"]["replicas"]
    return {DESIRED: str(replicas), MOST: str(replicas + surge(found))}


def carried(found: JSON, family: Family) -> dict[str, str]:
    """The annotations of the new ReplicaSet: its revision, above all others, and what the Deployment carries."""
    highest = max((revision_of(old) for old in family.old), default=0)
    own = revision_of(family.new) if family.new is not None else 0
    given = (found["metadata"].get("annotations") or {}).items()
    copied = {key: value for key, value in given if key not in _NOT_COPIED}
    if own > highest:
        return {**copied, REVISION: str(own)}
    past = ((family.new or {}).get("metadata") or {}).get("annotations") or {}
    passed = [past[HISTORY]] if past.get(HISTORY) else []
    history = {HISTORY: ",".join([*passed, str(own)])} if own else {}
    return {**copied, **history, REVISION: str(highest + 1)}


def superfluous(found: JSON, family: Family) -> list[JSON]:
    """The old ReplicaSets beyond revisionHistoryLimit, oldest first, once they are empty and the rollout is done."""
    status, wanted = found.get("status") or {}, found["spec"]["replicas"]
    counts = (status.get("updatedReplicas", 0), status.get("replicas", 0), status.get("availableReplicas", 0))
    if counts != (wanted, wanted, wanted):
        return []
    kept = found["spec"].get("revisionHistoryLimit", 10)
    empty = [
        old
        for old in sorted(family.old, key=revision_of)
        if not old["spec"]["replicas"] and not (old.get("status") or {}).get("replicas")
    ]
    return empty[: max(0, len(empty) - kept)]
