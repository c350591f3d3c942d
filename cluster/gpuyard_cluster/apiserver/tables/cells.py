"""Cells that many kinds show.

Stands for the helpers of kube-apiserver's printers.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.tables import ages

NONE = "<none>"


def age(obj: JSON, now: float) -> str:
    """How old an object is."""
    return ages.age(obj["metadata"].get("creationTimestamp"), now)


def spec_of(obj: JSON) -> JSON:
    found: JSON = obj.get("spec") or {}
    return found


def status_of(obj: JSON) -> JSON:
    found: JSON = obj.get("status") or {}
    return found


def joined(values: Iterable[Any]) -> str:
    """Values with commas between them."""
    return ",".join(str(value) for value in values) or NONE


def pairs(selector: Mapping[str, str]) -> str:
    """A map as a label selector."""
    return joined(f"{key}={value}" for key, value in sorted(selector.items()))
