"""Events, as either of their API groups writes them.

Stands for `ValidateEventCreate` and `ValidateEventUpdate`. Law: an event of events.k8s.io says what happened when,
and later only how often; one of the core group may change in any way, and is held to its form only if it has an
eventTime. Faults are named by the fields of the core group.
"""

from collections.abc import Iterator

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import Cause
from gpuyard_cluster.apiserver.kinds.event_groups import as_core
from gpuyard_cluster.apiserver.rules import causes
from gpuyard_cluster.apiserver.rules.names import qualified_fault

_LIMITS = {"action": 128, "reason": 128, "reportingInstance": 128, "message": 1024}
_OF_OLD = ("firstTimestamp", "lastTimestamp", "count", "source")
_FIXED = (
    *_OF_OLD,
    *("involvedObject", "related", "reason", "message", "type", "eventTime", "action"),
    *("reportingComponent", "reportingInstance"),
)
_SYSTEM = ("default", "kube-system")
"""Namespaces of events about what has none."""


def create_faults(event: JSON) -> Iterator[Cause]:
    """Faults of a new event."""
    yield from _form_faults(event)
    if not _newer(event):
        return
    core = as_core(event)
    if not core.get("eventTime"):
        yield causes.required("eventTime")
    if core.get("type") not in ("Normal", "Warning"):
        yield causes.invalid("type", core.get("type", ""), "has invalid value")
    for field in _OF_OLD:
        if core.get(field):
            yield causes.invalid(field, core[field], "needs to be unset")
    yield from _series_faults(event)


def update_faults(old: JSON, new: JSON) -> Iterator[Cause]:
    """Faults of a change from `old` to `new`."""
    yield from _form_faults(new)
    if not _newer(new):
        return
    before, after = as_core(old), as_core(new)
    for field in _FIXED:
        if after.get(field) != before.get(field):
            yield causes.invalid(_named(field, new), after.get(field), "field is immutable")
    yield from _series_faults(new)


def _newer(event: JSON) -> bool:
    return bool(event.get("apiVersion", "v1") != "v1")


def _named(field: str, event: JSON) -> str:
    """The one field that keeps the name that it has in its group."""
    return "reportingController" if field == "reportingComponent" and _newer(event) else field


def _form_faults(event: JSON) -> Iterator[Cause]:
    core = as_core(event) if _newer(event) else event
    if not _lies_well(core):
        namespace = core.get("involvedObject", {}).get("namespace", "")
        yield causes.invalid("involvedObject.namespace", namespace, "does not match event.namespace")
    if not core.get("eventTime"):
        return
    for field in ("reportingComponent", "reportingInstance", "action", "reason"):
        if not core.get(field):
            yield causes.required(_named(field, event))
    reporter = core.get("reportingComponent", "")
    if fault := qualified_fault(reporter):
        yield causes.invalid(_named("reportingComponent", event), reporter, fault)
    for field, limit in _LIMITS.items():
        if len(core.get(field, "").encode()) > limit:
            yield causes.invalid(field, "", f"can have at most {limit} characters")


def _lies_well(core: JSON) -> bool:
    """Whether an event is in a namespace where events about its object belong."""
    about = core.get("involvedObject", {}).get("namespace", "")
    own = core.get("metadata", {}).get("namespace", "")
    if core.get("eventTime"):
        return bool(about) or own in _SYSTEM
    return bool(about == own or (not about and own == "default"))


def _series_faults(event: JSON) -> Iterator[Cause]:
    series = event.get("series")
    if series is None:
        return
    if series.get("count", 0) < 2:
        yield causes.invalid("series.count", series.get("count", 0), "should be at least 2")
    if not series.get("lastObservedTime"):
        yield causes.required("series.lastObservedTime")
