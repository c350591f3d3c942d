"""What every PodGroup and Reservation is like once it is let in, whoever wrote it and whatever its definition allows.

Stands for the typed decoding of client-go, which here must not refuse: an object that cannot be decoded would be
missing, and what hangs on it would hang. Law: a part of another type than it has to be is as if it were absent.
"""

from typing import Any

from gpuyard.writes import JSON


def sound(obj: JSON) -> JSON:
    """The object with parts that can be looked into. Its metadata is there: otherwise it has no name."""
    metadata, spec, status = (_mapping(obj.get(part)) for part in ("metadata", "spec", "status"))
    metadata = {
        **metadata,
        "annotations": _mapping(metadata.get("annotations")),
        "labels": _mapping(metadata.get("labels")),
        "ownerReferences": _mappings(metadata.get("ownerReferences")),
    }
    conditions = _mappings(status.get("conditions"))
    status = {**status, "conditions": [one for one in conditions if isinstance(one.get("type"), str)]}
    return {**obj, "metadata": metadata, "spec": spec, "status": status}


def _mapping(part: Any) -> JSON:
    return part if isinstance(part, dict) else {}


def _mappings(part: Any) -> list[JSON]:
    return [one for one in part if isinstance(one, dict)] if isinstance(part, list) else []
