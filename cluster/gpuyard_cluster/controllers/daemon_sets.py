"""DaemonSets: one pod on each node that it is meant for.

Stands for the daemonset controller. Each pod is tied to its node by node affinity and then scheduled like any
other. Where the template changed, old pods are replaced, never more than maxUnavailable at a time (maxSurge is not
simulated).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from gpuyard.pods import fit
from gpuyard.pods.phases import has_ended
from gpuyard.writes import JSON
from gpuyard_cluster.controllers import pods
from gpuyard_cluster.controllers.decisions import NOTHING, Act, Decision, earliest, status_write
from gpuyard_cluster.controllers.families import hash_of, share
from gpuyard_cluster.controllers.objects import Objects, key_of

DAEMON_SETS = "/apis/apps/v1/daemonsets"
REVISION = "controller-revision-hash"
_NODE = "node.kubernetes.io"
_TOLERATED = (
    ("not-ready", "NoExecute"),
    ("unreachable", "NoExecute"),
    ("disk-pressure", "NoSchedule"),
    ("memory-pressure", "NoSchedule"),
    ("pid-pressure", "NoSchedule"),
    ("unschedulable", "NoSchedule"),
)
_ByNode = Mapping[str, Sequence[JSON]]


class DaemonSets:
    name = "daemonset-controller"
    resources = {"daemonsets": DAEMON_SETS, "pods": pods.PODS, "nodes": "/api/v1/nodes"}

    def keys(self, resource: str, obj: JSON, objects: Objects) -> Iterable[str]:
        if resource == "daemonsets":
            return (key_of(obj),)
        if resource == "nodes":
            return [key_of(found) for found in objects.all("daemonsets")]
        return pods.concerned("daemonsets", "DaemonSet", obj, objects)

    def reconcile(self, key: str, objects: Objects, now: float) -> Decision:
        found = objects.get("daemonsets", key)
        if found is None:
            return NOTHING
        claimed = pods.claim(found, "pods", pods.PODS, objects)
        by_node: dict[str, list[JSON]] = {}
        for pod in claimed.mine:
            by_node.setdefault(node_of(pod), []).append(pod)
        meant = [
            name
            for node in objects.all("nodes")
            if _meant(found, node) and (name := node["metadata"]["name"])
        ]
        acts = claimed.acts if claimed.acts or pods.deleting(found) else _steps(found, meant, by_node, now)
        status, at = _status(found, meant, by_node, now)
        return Decision((*acts, *status_write(DAEMON_SETS, found, status)), at=at, size=len(claimed.mine))


def node_of(pod: JSON) -> str:
    """The node that a pod of a DaemonSet is on, or is made for."""
    spec = pod["spec"]
    if spec.get("nodeName"):
        return str(spec["nodeName"])
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    for term in required.get("nodeSelectorTerms") or ():
        for field in term.get("matchFields") or ():
            return str(field["values"][0])
    return ""


def _meant(found: JSON, node: JSON) -> bool:
    """By selector, affinity and taints; how much is free there does not matter."""
    pod = pods.made_from(found["spec"]["template"], found, {})
    pod["spec"]["tolerations"] = _tolerations(pod["spec"])
    # Whether a node is ready shows in its taints, and a cordoned one keeps its daemons.
    place = replace(fit.NodeFit.of(node), ready=True)
    return fit.misplaced(fit.PodFit.of(pod), place) is None


def _steps(found: JSON, meant: Sequence[str], by_node: _ByNode, now: float) -> tuple[Act, ...]:
    acts = list[Act]()
    for node in meant:
        here = by_node.get(node, ())
        acts += [pods.remove(pod, found) for pod in here if has_ended(pod) and not pods.deleting(pod)]
        if not here:
            acts.append(pods.create(_pod(found, node), found))
    for node in by_node.keys() - set(meant):
        acts += [pods.remove(pod, found) for pod in by_node[node] if not pods.deleting(pod)]
    return tuple(acts or _updates(found, meant, by_node, now))


def _updates(found: JSON, meant: Sequence[str], by_node: _ByNode, now: float) -> list[Act]:
    strategy = found["spec"].get("updateStrategy") or {}
    if strategy.get("type") != "RollingUpdate":
        return []
    limit = (strategy.get("rollingUpdate") or {}).get("maxUnavailable", 1)
    room = max(1, share(limit, len(meant), up=True))
    old, away = list[JSON](), 0
    for node in meant:
        here = by_node.get(node, ())
        away += not any(pods.is_available(pod, found, now) for pod in here)
        old += [pod for pod in here if pods.active(pod) and not _present(found, pod)]
    return [pods.remove(pod, found) for pod in old[: max(0, room - away)]]


def _present(found: JSON, pod: JSON) -> bool:
    return (pod["metadata"].get("labels") or {}).get(REVISION) == hash_of(found["spec"]["template"])


def _pod(found: JSON, node: str) -> JSON:
    generation = str(found["metadata"].get("generation", 1))
    labels = {REVISION: hash_of(found["spec"]["template"]), "pod-template-generation": generation}
    named = {"generateName": f"{found['metadata']['name']}-", "labels": labels}
    pod = pods.made_from(found["spec"]["template"], found, named)
    spec = pod["spec"]
    here = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    affinity = spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})
    # As in the real one this takes the place of required terms, which the node has met already.
    affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": [here]}
    spec["tolerations"] = _tolerations(spec)
    return pod


def _tolerations(spec: JSON) -> list[JSON]:
    added = [{"key": f"{_NODE}/{key}", "operator": "Exists", "effect": effect} for key, effect in _TOLERATED]
    given = spec.get("tolerations") or []
    return [*given, *(toleration for toleration in added if toleration not in given)]


def _status(found: JSON, meant: Sequence[str], by_node: _ByNode, now: float) -> tuple[JSON, float | None]:
    here = [pod for node in meant for pod in by_node.get(node, ())[:1]]
    moments = [at for pod in here if (at := pods.available_at(pod, found)) is not None]
    available, updated = sum(at <= now for at in moments), sum(_present(found, pod) for pod in here)
    extra = {"updatedNumberScheduled": updated, "numberAvailable": available}
    extra["numberUnavailable"] = len(meant) - available
    status = {
        "currentNumberScheduled": len(here),
        "numberMisscheduled": sum(bool(by_node[node]) for node in by_node.keys() - set(meant)),
        "desiredNumberScheduled": len(meant),
        "numberReady": len(moments),
        "observedGeneration": found["metadata"].get("generation", 0),
        **{key: count for key, count in extra.items() if count},
    }
    return status, earliest(*(at for at in moments if at > now))
