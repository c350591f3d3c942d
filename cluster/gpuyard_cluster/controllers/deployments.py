"""Deployments: one ReplicaSet for each version of a template, and the way from one to the next.

Stands for the deployment controller. Laws:
- The ReplicaSet with the present template is the new one; all others are old, kept for `kubectl rollout undo`.
- Rolling update: never more than replicas + maxSurge pods, never fewer than replicas - maxUnavailable available ones,
  as far as the controller can help it. Recreate: no new pod before the last old one is gone.
- A paused Deployment is scaled and its status kept, but no new version begins.
Not here: the even spread of a change of `replicas` over several ReplicaSets in the middle of a rollout; the new one
takes it all.
"""

from collections.abc import Iterable

from gpuyard.pods.phases import has_ended
from gpuyard.writes import JSON
from gpuyard_cluster.controllers import deployment_status, pods, revisions, rollouts
from gpuyard_cluster.controllers.decisions import NOTHING, Act, Decision, Note, delete, patch, status_write
from gpuyard_cluster.controllers.families import Family, family
from gpuyard_cluster.controllers.objects import Objects, controller_of, key_of
from gpuyard_cluster.controllers.replica_sets import REPLICA_SETS
from gpuyard_cluster.controllers.rollouts import Scaling

DEPLOYMENTS = "/apis/apps/v1/deployments"


class Deployments:
    name = "deployment-controller"
    resources = {"deployments": DEPLOYMENTS, "replicasets": REPLICA_SETS, "pods": pods.PODS}

    def keys(self, resource: str, obj: JSON, objects: Objects) -> Iterable[str]:
        if resource == "deployments":
            return (key_of(obj),)
        if resource == "replicasets":
            return pods.concerned("deployments", "Deployment", obj, objects)
        return _of_pod(obj, objects)

    def reconcile(self, key: str, objects: Objects, now: float) -> Decision:
        found = objects.get("deployments", key)
        if found is None:
            return NOTHING
        claimed = pods.claim(found, "replicasets", REPLICA_SETS, objects)
        known = family(found, claimed.mine)
        if claimed.acts or pods.deleting(found):
            return Decision(claimed.acts)
        if marked := _revision(found, known):
            return Decision(tuple(marked))
        status, at = deployment_status.of(found, known, now)
        acts = _steps(found, known, objects)
        return Decision((*acts, *status_write(DEPLOYMENTS, found, status)), at=at)


def _of_pod(pod: JSON, objects: Objects) -> Iterable[str]:
    """A pod concerns a Deployment only where the last old one must be gone."""
    owner = controller_of(pod)
    place = pod["metadata"].get("namespace", "")
    parent = objects.get("replicasets", f"{place}/{owner['name']}") if owner else None
    above = controller_of(parent) if parent else None
    found = objects.get("deployments", f"{place}/{above['name']}") if above else None
    return (key_of(found),) if found and found["spec"]["strategy"]["type"] == "Recreate" else ()


def _revision(found: JSON, known: Family) -> list[Act]:
    """The new ReplicaSet carries the highest revision, and the Deployment the same."""
    if known.new is None:
        return []
    wanted = revisions.carried(found, known)
    acts = []
    if not wanted.items() <= (known.new["metadata"].get("annotations") or {}).items():
        acts.append(Act(patch(REPLICA_SETS, known.new, {"metadata": {"annotations": wanted}})))
    own = {revisions.REVISION: wanted[revisions.REVISION]}
    if not own.items() <= (found["metadata"].get("annotations") or {}).items():
        # By way of the status, as the real one does: a change of annotations would be a new generation.
        acts.append(Act(patch(DEPLOYMENTS, found, {"metadata": {"annotations": own}}, "status")))
    return acts


def _steps(found: JSON, known: Family, objects: Objects) -> list[Act]:
    spec = found["spec"]
    paused = bool(spec.get("paused"))
    if known.new is None and not paused and _may_begin(found, known, objects):
        return [rollouts.new_replica_set(found, known)]
    if paused or rollouts.resized(found, known):
        scalings = rollouts.sized(found, known)
    elif spec["strategy"]["type"] == "Recreate":
        scalings = rollouts.recreated(found, known)
    else:
        scalings = rollouts.rolled(found, known)
    acts = [_scale(found, scaling) for scaling in scalings]
    return acts or [Act(delete(REPLICA_SETS, old)) for old in revisions.superfluous(found, known)]


def _may_begin(found: JSON, known: Family, objects: Objects) -> bool:
    if found["spec"]["strategy"]["type"] != "Recreate":
        return True
    left = [pod for old in known.old for pod in objects.owned(old["metadata"]["uid"], "pods")]
    return not any(old["spec"]["replicas"] for old in known.old) and all(has_ended(pod) for pod in left)


def _scale(found: JSON, scaling: Scaling) -> Act:
    target, replicas = scaling.target, scaling.replicas
    before, name = target["spec"]["replicas"], target["metadata"]["name"]
    change = {
        "spec": {"replicas": replicas},
        "metadata": {"annotations": revisions.sizes(found)},
    }
    if before == replicas:
        return Act(patch(REPLICA_SETS, target, change))
    way = "up" if replicas > before else "down"
    text = f"Scaled {way} replica set {name} from {before} to {replicas}"
    return Act(patch(REPLICA_SETS, target, change), Note(found, "ScalingReplicaSet", text))
