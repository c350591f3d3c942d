"""Evicting a pod: a deletion that disruption budgets may refuse.

Stands for `pods/eviction` of kube-apiserver. Law: an eviction takes its share of the budget in the same request, so
that two at once cannot both have the last one.
"""

from gpuyard.pods.phases import has_ended
from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.admission import admission
from gpuyard_cluster.apiserver.backend import Backend, internal
from gpuyard_cluster.apiserver.errors import ApiError, Cause, forbidden
from gpuyard_cluster.apiserver.kinds.conditions import condition, with_condition
from gpuyard_cluster.apiserver.routing import Target
from gpuyard_cluster.apiserver.rules import metadata
from gpuyard_cluster.apiserver.selection import label_selectors
from gpuyard_cluster.apiserver.storage import commits
from gpuyard_cluster.apiserver.storage.storage import Stored
from gpuyard_cluster.apiserver.verbs import deletion
from gpuyard_cluster.apiserver.wire.delete_options import DeleteOptions
from gpuyard_cluster.apiserver.wire.options import WriteOptions

_BUDGETS = "poddisruptionbudgets.policy"
_RETRY_SECONDS = 10


def evict(backend: Backend, target: Target, eviction: JSON, options: DeleteOptions) -> None:
    """Delete the target's pod, if the budgets that select it allow it; else 429."""
    pod = backend.read(target)
    attempt = admission.Attempt(
        "CREATE", target, None, WriteOptions(dry_run=options.dry_run, user=options.user)
    )
    admission.validate(backend, attempt, admission.mutate(backend, attempt, eviction))
    metadata.check_preconditions(target, pod.obj["metadata"], options.preconditions)
    budget = _budget(backend, pod)
    spent = None
    if budget is not None and not _free_to_go(pod.obj):
        spent = _spent(pod.obj, budget.obj, backend.timestamp())
    if not options.dry_run:
        if spent is not None:
            budgets = backend.registry.find("policy", "v1", "poddisruptionbudgets")
            commits.put(backend, Target(budgets, target.namespace, spent["metadata"]["name"]), spent)
        _mark(backend, target, pod)
    deletion.carry_out(backend, target, options)


def _budget(backend: Backend, pod: Stored) -> Stored | None:
    meta = pod.obj["metadata"]
    found = [
        budget
        for budget in backend.store.scan(_BUDGETS, f"{meta['namespace']}/")
        if _selects(budget.obj["spec"].get("selector"), pod.obj)
    ]
    if len(found) > 1:
        raise internal(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        )
    return found[0] if found else None


def _selects(selector: JSON | None, pod: JSON) -> bool:
    """policy/v1: an empty selector selects all pods of the namespace, a missing one none."""
    return selector is not None and label_selectors.matches(selector, pod["metadata"].get("labels") or {})


def _free_to_go(pod: JSON) -> bool:
    """Pods that serve nobody: budgets do not hold them."""
    waits = pod.get("status", {}).get("phase") == "Pending"
    return waits or has_ended(pod) or bool(pod["metadata"].get("deletionTimestamp"))


def _spent(pod: JSON, budget: JSON, now: str) -> JSON | None:
    """The budget with one disruption less; None where the pod costs none. 429 when there is none left."""
    status = budget.get("status", {})
    if not _is_ready(pod) and _allows_unready(budget):
        return None
    name = budget["metadata"]["name"]
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        raise _too_many(f"The disruption budget {name} is still being processed by the server.")
    allowed = status.get("disruptionsAllowed", 0)
    if allowed < 0:
        raise forbidden("poddisruptionbudgets.policy", name, "pdb disruptions allowed is negative")
    if allowed == 0:
        needs, has = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
        raise _too_many(f"The disruption budget {name} needs {needs} healthy pods and has {has} currently")
    disrupted = {**(status.get("disruptedPods") or {}), pod["metadata"]["name"]: now}
    return {**budget, "status": {**status, "disruptionsAllowed": allowed - 1, "disruptedPods": disrupted}}


def _is_ready(pod: JSON) -> bool:
    ready = condition(pod, "Ready")
    return ready is not None and ready.get("status") == "True"


def _allows_unready(budget: JSON) -> bool:
    status = budget.get("status", {})
    if budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    desired = status.get("desiredHealthy", 0)
    return bool(desired > 0 and status.get("currentHealthy", 0) >= desired)


def _too_many(why: str) -> ApiError:
    message = "Cannot evict pod as it would violate the pod's disruption budget."
    cause = Cause("", "DisruptionBudget", why)
    details = {"causes": [cause.document()], "retryAfterSeconds": _RETRY_SECONDS}
    return ApiError(429, "TooManyRequests", message, details)


def _mark(backend: Backend, target: Target, pod: Stored) -> None:
    """Say in the pod's status why it goes."""
    doomed = {
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": None,
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }
    obj = pod.copy()
    obj["status"] = with_condition(obj.get("status", {}), doomed, backend.timestamp())
    commits.put(backend, target, obj)
