"""ReplicaSets: as many pods of a template as are wanted.

Stands for the replicaset controller. A pod that has ended or is being deleted does not count; of too many the ones
that are missed least go first.
"""

from collections.abc import Iterable, Sequence

from gpuyard.pods.phases import has_ended
from gpuyard.writes import JSON
from gpuyard_cluster.controllers import pods
from gpuyard_cluster.controllers.decisions import NOTHING, Act, Decision, earliest, status_write
from gpuyard_cluster.controllers.objects import Objects, key_of

REPLICA_SETS = "/apis/apps/v1/replicasets"


class ReplicaSets:
    name = "replicaset-controller"
    resources = {"replicasets": REPLICA_SETS, "pods": pods.PODS}

    def keys(self, resource: str, obj: JSON, objects: Objects) -> Iterable[str]:
        if resource == "replicasets":
            return (key_of(obj),)
        return pods.concerned("replicasets", "ReplicaSet", obj, objects)

    def reconcile(self, key: str, objects: Objects, now: float) -> Decision:
        found = objects.get("replicasets", key)
        if found is None:
            return NOTHING
        claimed = pods.claim(found, "pods", pods.PODS, objects)
        active = [pod for pod in claimed.mine if pods.active(pod)]
        acts = claimed.acts if claimed.acts or pods.deleting(found) else _replicas(found, active)
        status, at = _status(found, claimed.mine, now)
        return Decision((*acts, *status_write(REPLICA_SETS, found, status)), at=at, size=len(claimed.mine))


def _replicas(found: JSON, active: Sequence[JSON]) -> tuple[Act, ...]:
    """Make or delete pods. What is left of a great difference comes with the next look, after the first events."""
    missing = found["spec"]["replicas"] - len(active)
    if missing > 0:
        return tuple(pods.create(_pod(found), found) for _ in range(min(missing, pods.BURST)))
    surplus = pods.by_dispensability(active)[: min(-missing, pods.BURST)]
    return tuple(pods.remove(pod, found) for pod in surplus)


def _pod(found: JSON) -> JSON:
    named = {"generateName": f"{found['metadata']['name']}-"}
    return pods.made_from(found["spec"]["template"], found, named)


def _status(found: JSON, mine: Sequence[JSON], now: float) -> tuple[JSON, float | None]:
    """The status, and when it changes by the passing of time."""
    spec = found["spec"]
    active = [pod for pod in mine if pods.active(pod)]
    wanted = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    labelled = [pod for pod in active if wanted.items() <= (pod["metadata"].get("labels") or {}).items()]
    moments = [at for pod in active if (at := pods.available_at(pod, found)) is not None]
    counts = {
        "fullyLabeledReplicas": len(labelled),
        "readyReplicas": len(moments),
        "availableReplicas": sum(at <= now for at in moments),
    }
    status = {
        "replicas": len(active),
        **{key: count for key, count in counts.items() if count},
        "terminatingReplicas": sum(pods.deleting(pod) and not has_ended(pod) for pod in mine),
        "observedGeneration": found["metadata"].get("generation", 0),
    }
    return status, earliest(*(at for at in moments if at > now))
