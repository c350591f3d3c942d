"""Events in two API groups: one object, kept in the form of the core group.

Stands for the conversions of `k8s.io/kubernetes/pkg/apis/events/v1`.
"""

from gpuyard.writes import JSON

EVENTS_GROUP = "events.k8s.io"

_RENAMED = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
"""Field of the core group -> field of events.k8s.io; all others have one name in both."""
_BACK = {theirs: ours for ours, theirs in _RENAMED.items()}


def as_core(event: JSON) -> JSON:
    """An Event of events.k8s.io/v1 as an Event of v1."""
    renamed = {_BACK.get(key, key): value for key, value in event.items()}
    return {**renamed, "apiVersion": "v1"}


def as_events_group(event: JSON) -> JSON:
    """An Event of v1 as an Event of events.k8s.io/v1."""
    renamed = {_RENAMED.get(key, key): value for key, value in event.items()}
    return {**renamed, "apiVersion": f"{EVENTS_GROUP}/v1"}
