"""PodDisruptionBudgets: how many pods may be evicted right now.

Stands for the disruption controller. The API server spends a budget with each eviction; this controller fills it up
again from the pods that are healthy. How many there should be is asked of the pods' own controllers, where a share
is given.
"""

from collections.abc import Iterable, Sequence

from gpuyard.pods.phases import has_ended
from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.kinds.conditions import with_condition
from gpuyard_cluster.apiserver.selection import label_selectors
from gpuyard_cluster.controllers import pods
from gpuyard_cluster.controllers.decisions import NOTHING, Decision, Note, earliest, status_write
from gpuyard_cluster.controllers.families import share
from gpuyard_cluster.controllers.objects import Objects, controller_of, key_of
from gpuyard_kube.timestamps import rfc3339, seconds

BUDGETS = "/apis/policy/v1/poddisruptionbudgets"
DELETION_SECONDS = 120.0
"""An eviction that did not lead to a deletion in this time is forgotten (DeletionTimeout)."""
_SCALED = {"ReplicaSet": "replicasets", "Deployment": "deployments", "StatefulSet": "statefulsets"}


class Disruption:
    name = "controllermanager"
    resources = {
        "poddisruptionbudgets": BUDGETS,
        "pods": pods.PODS,
        **{plural: f"/apis/apps/v1/{plural}" for plural in _SCALED.values()},
    }

    def keys(self, resource: str, obj: JSON, objects: Objects) -> Iterable[str]:
        if resource == "poddisruptionbudgets":
            return (key_of(obj),)
        budgets = objects.all("poddisruptionbudgets", obj["metadata"].get("namespace", ""))
        return [key_of(each) for each in budgets if resource != "pods" or _selects(each, obj)]

    def reconcile(self, key: str, objects: Objects, now: float) -> Decision:
        budget = objects.get("poddisruptionbudgets", key)
        if budget is None:
            return NOTHING
        selected = [
            pod for pod in objects.all("pods", budget["metadata"]["namespace"]) if _selects(budget, pod)
        ]
        living = [pod for pod in selected if not has_ended(pod)]
        status, at = _status(budget, living, objects, now)
        notes = () if living else (Note(budget, "NoPods", "No matching pods found"),)
        return Decision(
            status_write(BUDGETS, budget, status), notes if budget.get("status") != status else (), at
        )


def _selects(budget: JSON, pod: JSON) -> bool:
    selector = budget["spec"].get("selector")
    return selector is not None and label_selectors.matches(selector, pod["metadata"].get("labels") or {})


def _status(budget: JSON, living: Sequence[JSON], objects: Objects, now: float) -> tuple[JSON, float | None]:
    old = budget.get("status") or {}
    leaving = _leaving(old.get("disruptedPods") or {}, living, now)
    healthy = [
        pod
        for pod in living
        if pods.ready_since(pod) is not None and pods.active(pod) and pod["metadata"]["name"] not in leaving
    ]
    expected, desired = _expected(budget["spec"], living, objects)
    allowed = max(0, len(healthy) - desired) if expected else 0
    status = {
        "conditions": old.get("conditions") or [],
        "currentHealthy": len(healthy),
        "desiredHealthy": desired,
        "disruptionsAllowed": allowed,
        "expectedPods": expected,
        "observedGeneration": budget["metadata"].get("generation", 0),
        **({"disruptedPods": leaving} if leaving else {}),
    }
    reason = "SufficientPods" if allowed else "InsufficientPods"
    condition = {"type": "DisruptionAllowed", "status": str(allowed > 0), "reason": reason, "message": ""}
    condition["observedGeneration"] = status["observedGeneration"]
    ends = [end + DELETION_SECONDS for time in leaving.values() if (end := seconds(time)) is not None]
    return with_condition(status, condition, rfc3339(now)), earliest(*ends)


def _leaving(disrupted: JSON, living: Sequence[JSON], now: float) -> JSON:
    """The pods that an eviction promised to delete and that are not yet seen to be deleted."""
    waiting = {pod["metadata"]["name"] for pod in living if not pods.deleting(pod)}
    recent = {
        name: time for name, time in disrupted.items() if (seconds(time) or 0.0) + DELETION_SECONDS > now
    }
    return {name: time for name, time in recent.items() if name in waiting}


def _expected(spec: JSON, living: Sequence[JSON], objects: Objects) -> tuple[int, int]:
    """How many pods there should be, and how many of them must be healthy."""
    if (most := spec.get("maxUnavailable")) is not None:
        expected = _wanted(living, objects)
        return expected, max(0, expected - share(most, expected, up=True))
    least = spec.get("minAvailable", 0)
    if isinstance(least, int):
        return len(living), least
    expected = _wanted(living, objects)
    return expected, share(least, expected, up=True)


def _wanted(living: Sequence[JSON], objects: Objects) -> int:
    """The sum of what the pods' controllers want. Pods without one that can be scaled count for nothing."""
    found = {
        obj["metadata"]["uid"]: obj["spec"]["replicas"] for pod in living if (obj := _scaled(pod, objects))
    }
    return sum(found.values())


def _scaled(obj: JSON, objects: Objects) -> JSON | None:
    """The topmost controller above an object that has replicas."""
    owner = controller_of(obj)
    if owner is None or owner["kind"] not in _SCALED:
        return None
    parent = objects.get(_SCALED[owner["kind"]], f"{obj['metadata'].get('namespace', '')}/{owner['name']}")
    return None if parent is None else _scaled(parent, objects) or parent
