"""LabelSelector objects, as specs hold them.

Stands for `metav1.LabelSelectorAsSelector`.
"""

from collections.abc import Mapping

from gpuyard.writes import JSON


def matches(selector: JSON, labels: Mapping[str, str]) -> bool:
    """Whether the labels meet matchLabels and every one of matchExpressions; an empty selector matches all."""
    exact: Mapping[str, str] = selector.get("matchLabels") or {}
    if any(labels.get(key) != value for key, value in exact.items()):
        return False
    return all(_holds(term, labels) for term in selector.get("matchExpressions") or [])


def _holds(term: JSON, labels: Mapping[str, str]) -> bool:
    value, operator = labels.get(str(term["key"])), str(term["operator"])
    if operator in ("Exists", "DoesNotExist"):
        return (value is not None) == (operator == "Exists")
    return (value in (term.get("values") or [])) == (operator == "In")
