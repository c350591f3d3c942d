"""Conditions as they stand in the status of objects.

Stands for `k8s.io/apimachinery/pkg/api/meta.FindStatusCondition`. Law: what is no condition is passed over.
"""

from gpuyard.writes import JSON


def condition(status: JSON, kind: str) -> JSON:
    """The condition of that type; empty where there is none."""
    found = (one for one in status.get("conditions") or () if isinstance(one, dict))
    return next((one for one in found if one.get("type") == kind), {})
