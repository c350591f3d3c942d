"""Conditions in a status.

Stands for `podutil.UpdatePodCondition` and its likes.
"""

from gpuyard.writes import JSON


def with_condition(status: JSON, condition: JSON, now: str) -> JSON:
    """`status` with `condition` in the place of an older one of its type; a change of its status is stamped `now`."""
    found = status.get("conditions") or []
    old = next((item for item in found if item["type"] == condition["type"]), None)
    kept = old is not None and old.get("status") == condition["status"]
    changed = (old.get("lastTransitionTime") if kept and old else None) or now
    new = {**condition, "lastTransitionTime": changed}
    if old is None:
        return {**status, "conditions": [*found, new]}
    return {**status, "conditions": [new if item is old else item for item in found]}


def condition(obj: JSON, kind: str) -> JSON | None:
    """The condition of that type in an object's status."""
    found = obj.get("status", {}).get("conditions") or []
    return next((item for item in found if item["type"] == kind), None)
