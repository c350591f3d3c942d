"""StatefulSets: pods with a name and a number, one after the other.

Stands for the statefulset controller. Laws:
- Pod n is there only after all pods below it are available (podManagementPolicy OrderedReady); the highest goes
  first.
- A pod that has ended is made anew under its name. Where the template changed, pods above the partition are
  replaced, from the highest on, each after the last one is available.
Not here: ControllerRevisions (so no `rollout undo`), and volume claims, which this cluster does not have: an event
says so.
"""

from collections.abc import Iterable, Mapping

from gpuyard.pods.phases import has_ended
from gpuyard.writes import JSON
from gpuyard_cluster.controllers import pods
from gpuyard_cluster.controllers.decisions import NOTHING, Act, Decision, Note, delete, earliest, status_write
from gpuyard_cluster.controllers.families import hash_of
from gpuyard_cluster.controllers.objects import Objects, key_of

STATEFUL_SETS = "/apis/apps/v1/statefulsets"
REVISION = "controller-revision-hash"


class StatefulSets:
    name = "statefulset-controller"
    resources = {"statefulsets": STATEFUL_SETS, "pods": pods.PODS}

    def keys(self, resource: str, obj: JSON, objects: Objects) -> Iterable[str]:
        if resource == "statefulsets":
            return (key_of(obj),)
        return pods.concerned("statefulsets", "StatefulSet", obj, objects)

    def reconcile(self, key: str, objects: Objects, now: float) -> Decision:
        found = objects.get("statefulsets", key)
        if found is None:
            return NOTHING
        claimed = pods.claim(found, "pods", pods.PODS, objects)
        mine = {number: pod for pod in claimed.mine if (number := _ordinal(found, pod)) is not None}
        acts = claimed.acts if claimed.acts or pods.deleting(found) else tuple(_steps(found, mine, now))
        status, at = _status(found, mine, now)
        return Decision((*status_write(STATEFUL_SETS, found, status), *acts), _notes(found), at, len(mine))


def revision(found: JSON) -> str:
    """The name of the present version of the template."""
    return f"{found['metadata']['name']}-{hash_of(found['spec']['template'])}"


def _notes(found: JSON) -> tuple[Note, ...]:
    if not found["spec"].get("volumeClaimTemplates") or "observedGeneration" in found.get("status", {}):
        return ()
    text = "volumeClaimTemplates are not simulated: the pods start without these volumes"
    return (Note(found, "NotSimulated", text, True),)


def _ordinal(found: JSON, pod: JSON) -> int | None:
    name, _, number = pod["metadata"]["name"].rpartition("-")
    return int(number) if name == found["metadata"]["name"] and number.isdigit() else None


def _steps(found: JSON, mine: Mapping[int, JSON], now: float) -> Iterable[Act]:
    """The next step, or all that may be done at once where the pods are managed in parallel."""
    acts = [*_ups(found, mine, now), *_downs(found, mine)] or _updates(found, mine, now)
    return acts if found["spec"].get("podManagementPolicy") == "Parallel" else acts[:1]


def _ups(found: JSON, mine: Mapping[int, JSON], now: float) -> list[Act]:
    acts, ordered = list[Act](), found["spec"].get("podManagementPolicy") != "Parallel"
    for number in _wanted(found):
        pod = mine.get(number)
        if pod is None:
            acts.append(pods.create(_pod(found, number), found, text=_told(found, "create", number)))
        elif has_ended(pod) and not pods.deleting(pod):
            acts.append(_deletion(found, number, pod))
        elif ordered and (pods.deleting(pod) or not pods.is_available(pod, found, now)):
            break
    return acts


def _downs(found: JSON, mine: Mapping[int, JSON]) -> list[Act]:
    surplus = sorted((number for number in mine if number not in _wanted(found)), reverse=True)
    if any(pods.deleting(mine[number]) for number in surplus[:1]):
        return []
    return [_deletion(found, number, mine[number]) for number in surplus]


def _updates(found: JSON, mine: Mapping[int, JSON], now: float) -> list[Act]:
    strategy = found["spec"].get("updateStrategy") or {}
    if strategy.get("type") == "OnDelete" or not all(
        pods.is_available(pod, found, now) for pod in mine.values()
    ):
        return []
    partition = (strategy.get("rollingUpdate") or {}).get("partition", 0)
    old = [number for number in mine if number >= partition and not _present(found, mine[number])]
    return [_deletion(found, number, mine[number]) for number in sorted(old, reverse=True)[:1]]


def _wanted(found: JSON) -> range:
    start = (found["spec"].get("ordinals") or {}).get("start", 0)
    return range(start, start + found["spec"]["replicas"])


def _present(found: JSON, pod: JSON) -> bool:
    return (pod["metadata"].get("labels") or {}).get(REVISION) == revision(found)


def _deletion(found: JSON, number: int, pod: JSON) -> Act:
    return Act(delete(pods.PODS, pod), Note(found, "SuccessfulDelete", _told(found, "delete", number)))


def _told(found: JSON, verb: str, number: int) -> str:
    name = found["metadata"]["name"]
    return f"{verb} Pod {name}-{number} in StatefulSet {name} successful"


def _pod(found: JSON, number: int) -> JSON:
    name = f"{found['metadata']['name']}-{number}"
    labels = {
        REVISION: revision(found),
        "statefulset.kubernetes.io/pod-name": name,
        "apps.kubernetes.io/pod-index": str(number),
    }
    pod = pods.made_from(found["spec"]["template"], found, {"name": name, "labels": labels})
    pod["spec"] |= {"hostname": name}
    if service := found["spec"].get("serviceName"):
        pod["spec"]["subdomain"] = service
    return pod


def _status(found: JSON, mine: Mapping[int, JSON], now: float) -> tuple[JSON, float | None]:
    alive = [pod for pod in mine.values() if not has_ended(pod)]
    moments = [at for pod in alive if (at := pods.available_at(pod, found)) is not None]
    present = [pod for pod in alive if _present(found, pod)]
    old = found.get("status") or {}
    done = len(present) == len(alive) == found["spec"]["replicas"] and len(moments) == len(alive)
    current = revision(found) if done or not old else old.get("currentRevision", revision(found))
    counts = {
        "currentReplicas": sum(
            (pod["metadata"].get("labels") or {}).get(REVISION) == current for pod in alive
        ),
        "readyReplicas": len(moments),
        "updatedReplicas": len(present),
    }
    status = {
        "replicas": len(alive),
        **{key: count for key, count in counts.items() if count},
        "availableReplicas": sum(at <= now for at in moments),
        "currentRevision": current,
        "updateRevision": revision(found),
        "observedGeneration": found["metadata"].get("generation", 0),
        "collisionCount": 0,
    }
    return status, earliest(*(at for at in moments if at > now))
