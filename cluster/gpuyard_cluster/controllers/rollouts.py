"""How many pods each ReplicaSet of a Deployment shall have next.

Stands for `rolling.go`, `recreate.go` and `sync.go` of the deployment controller.
"""

import copy
from dataclasses import dataclass

from gpuyard.writes import JSON, Write
from gpuyard_cluster.controllers import pods, revisions
from gpuyard_cluster.controllers.decisions import Act, Note
from gpuyard_cluster.controllers.families import HASH, Family, hash_of, surge, unavailable


@dataclass(frozen=True, slots=True)
class Scaling:
    """A ReplicaSet and the size that it shall have."""

    target: JSON
    replicas: int


def new_replica_set(found: JSON, known: Family) -> Act:
    """Make the ReplicaSet of the present template."""
    namespace = found["metadata"]["namespace"]
    body = _body(found, known)
    name, replicas = body["metadata"]["name"], body["spec"]["replicas"]
    text = f"Scaled up replica set {name} from 0 to {replicas}"
    told = Note(found, "ScalingReplicaSet", text) if replicas else None
    refused = Note(
        found, "ReplicaSetCreateError", f'Failed to create new replica set "{name}": {{why}}', True
    )
    return Act(Write("POST", f"/apis/apps/v1/namespaces/{namespace}/replicasets", body), told, refused)


def _body(found: JSON, known: Family) -> JSON:
    template, selector = copy.deepcopy(found["spec"]["template"]), copy.deepcopy(found["spec"]["selector"])
    mark = hash_of(template)
    labels = {**(template.setdefault("metadata", {}).get("labels") or {}), HASH: mark}
    template["metadata"]["labels"] = labels
    selector["matchLabels"] = {**(selector.get("matchLabels") or {}), HASH: mark}
    spec = {"replicas": _new_size(found, known), "selector": selector, "template": template}
    if seconds := found["spec"].get("minReadySeconds"):
        spec["minReadySeconds"] = seconds
    metadata = {
        "name": f"{found['metadata']['name']}-{mark}",
        "namespace": found["metadata"]["namespace"],
        "labels": labels,
        "annotations": {**revisions.carried(found, known), **revisions.sizes(found)},
        "ownerReferences": [pods.reference(found)],
    }
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": spec}


def resized(found: JSON, known: Family) -> bool:
    """Whether `replicas` was changed since the ReplicaSets were last sized."""
    wanted = revisions.sizes(found)[revisions.DESIRED]
    return any(
        each["spec"]["replicas"]
        and (each["metadata"].get("annotations") or {}).get(revisions.DESIRED, wanted) != wanted
        for each in known.all
    )


def sized(found: JSON, known: Family) -> list[Scaling]:
    """The Deployment's size to the one ReplicaSet that has pods, or else to the new one.

    In the middle of a rollout the ReplicaSets only learn of the new size; the rolling update goes on from there.
    """
    populated = [each for each in known.all if each["spec"]["replicas"]]
    target = populated[0] if len(populated) == 1 else known.new
    if target is None:
        return []
    if len(populated) > 1:
        return [Scaling(each, each["spec"]["replicas"]) for each in populated]
    wanted = found["spec"]["replicas"]
    return [Scaling(target, wanted)] if resized(found, known) else _changed(target, wanted)


def recreated(found: JSON, known: Family) -> list[Scaling]:
    """First nothing of the old, then all of the new."""
    down = [Scaling(old, 0) for old in known.old if old["spec"]["replicas"]]
    if down or known.new is None:
        return down
    return _changed(known.new, found["spec"]["replicas"])


def rolled(found: JSON, known: Family) -> list[Scaling]:
    """One step of a rolling update: more of the new, or else fewer of the old."""
    if known.new is None:
        return []
    return _changed(known.new, _new_size(found, known)) or _old_sizes(found, known, known.new)


def _new_size(found: JSON, known: Family) -> int:
    wanted: int = found["spec"]["replicas"]
    if found["spec"]["strategy"]["type"] != "RollingUpdate":
        return wanted
    has = known.new["spec"]["replicas"] if known.new is not None else 0
    if has >= wanted:
        return wanted
    room = wanted + surge(found) - sum(each["spec"]["replicas"] for each in known.all)
    return int(has + min(max(room, 0), wanted - has))


def _old_sizes(found: JSON, known: Family, new: JSON) -> list[Scaling]:
    """As many fewer as the available ones allow; pods that are not available go first, since nobody misses them."""
    total = sum(each["spec"]["replicas"] for each in known.all)
    least = found["spec"]["replicas"] - unavailable(found)
    missing_new = new["spec"]["replicas"] - _available(new)
    left = total - least - missing_new
    if left <= 0:
        return []
    sizes = {each["metadata"]["name"]: each["spec"]["replicas"] for each in known.old}
    for each in known.old:
        sick = min(
            sizes[each["metadata"]["name"]] - min(_available(each), each["spec"]["replicas"]), max(left, 0)
        )
        sizes[each["metadata"]["name"]] -= sick
        left -= sick
    spare = sum(_available(each) for each in known.all) - least
    for each in known.old:
        fewer = max(0, min(spare, sizes[each["metadata"]["name"]]))
        sizes[each["metadata"]["name"]] -= fewer
        spare -= fewer
    return [scaling for each in known.old for scaling in _changed(each, sizes[each["metadata"]["name"]])]


def _changed(target: JSON, replicas: int) -> list[Scaling]:
    return [Scaling(target, replicas)] if target["spec"]["replicas"] != replicas else []


def _available(replica_set: JSON) -> int:
    return int((replica_set.get("status") or {}).get("availableReplicas", 0))
