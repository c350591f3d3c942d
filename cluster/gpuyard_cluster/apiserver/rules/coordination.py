"""The objects by which parts of a cluster coordinate: leases, priority classes, disruption budgets.

Stands for `ValidateLease`, `ValidatePriorityClass` and `ValidatePodDisruptionBudget`.
"""

from collections.abc import Iterator

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import Cause
from gpuyard_cluster.apiserver.kinds.priorities import SYSTEM_CLASSES
from gpuyard_cluster.apiserver.rules import causes
from gpuyard_cluster.apiserver.rules.containers import one_of
from gpuyard_cluster.apiserver.rules.selectors import selector_faults

_HIGHEST_USER_PRIORITY = 1_000_000_000
_WHOLE = 100
_SYSTEM_PREFIX = "system-"


def lease_faults(lease: JSON) -> Iterator[Cause]:
    """Faults of a lease."""
    spec = lease.get("spec", {})
    if spec.get("leaseDurationSeconds", 1) <= 0:
        yield causes.invalid(
            "spec.leaseDurationSeconds", spec["leaseDurationSeconds"], "must be greater than 0"
        )
    if spec.get("leaseTransitions", 0) < 0:
        detail = "must be greater than or equal to 0"
        yield causes.invalid("spec.leaseTransitions", spec["leaseTransitions"], detail)


def priority_class_faults(priority_class: JSON) -> Iterator[Cause]:
    """Faults of a new priority class."""
    name, value = priority_class.get("metadata", {}).get("name", ""), priority_class.get("value", 0)
    if name.startswith(_SYSTEM_PREFIX):
        if SYSTEM_CLASSES.get(name) != value:
            detail = f"priority class names with '{_SYSTEM_PREFIX}' prefix are reserved for system use only"
            yield causes.forbidden("metadata.name", detail)
    elif value > _HIGHEST_USER_PRIORITY:
        detail = f"maximum allowed value of a user defined priority is {_HIGHEST_USER_PRIORITY}"
        yield causes.forbidden("value", detail)
    yield from one_of(priority_class, "preemptionPolicy", ("Never", "PreemptLowerPriority"), "")


def priority_class_update_faults(old: JSON, new: JSON) -> Iterator[Cause]:
    """Faults of a change from `old` to `new`."""
    if new.get("value", 0) != old.get("value", 0):
        yield causes.forbidden("value", "may not be changed in an update.")
    if new.get("preemptionPolicy") != old.get("preemptionPolicy"):
        yield causes.invalid("preemptionPolicy", new.get("preemptionPolicy"), "field is immutable")


def budget_faults(budget: JSON) -> Iterator[Cause]:
    """Faults of a disruption budget."""
    spec = budget.get("spec", {})
    if "minAvailable" in spec and "maxUnavailable" in spec:
        yield causes.invalid("spec", spec, "minAvailable and maxUnavailable cannot be both set")
    yield from selector_faults(spec.get("selector", {}), "spec.selector")
    for field in ("minAvailable", "maxUnavailable"):
        yield from _count_or_percentage(spec.get(field, 0), f"spec.{field}")


def _count_or_percentage(value: object, path: str) -> Iterator[Cause]:
    if isinstance(value, bool) or not isinstance(value, int | str):
        yield causes.invalid(path, value, "must be an integer or a percentage")
    elif isinstance(value, str) and not (value.endswith("%") and value[:-1].isdigit()):
        detail = "a valid percent string must be a numeric string followed by an ending '%'"
        yield causes.invalid(path, value, detail)
    elif isinstance(value, str) and int(value[:-1]) > _WHOLE:
        yield causes.invalid(path, value, "must not be greater than 100%")
    elif isinstance(value, int) and value < 0:
        yield causes.invalid(path, value, "must be greater than or equal to 0")
