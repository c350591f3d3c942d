"""Label selectors inside specs.

Stands for `ValidateLabelSelector` of `k8s.io/apimachinery/pkg/apis/meta/v1/validation`.
"""

from collections.abc import Iterator

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import Cause
from gpuyard_cluster.apiserver.rules import causes
from gpuyard_cluster.apiserver.rules.names import label_faults, label_value_fault, qualified_fault


def selector_faults(selector: JSON, path: str) -> Iterator[Cause]:
    """Faults of a LabelSelector; an empty one selects everything."""
    yield from label_faults(selector.get("matchLabels", {}), f"{path}.matchLabels")
    for index, term in enumerate(selector.get("matchExpressions", ())):
        yield from _term(term, f"{path}.matchExpressions[{index}]")


def _term(term: JSON, path: str) -> Iterator[Cause]:
    operator, values = term.get("operator", ""), term.get("values", [])
    if fault := qualified_fault(term.get("key", "")):
        yield causes.invalid(f"{path}.key", term.get("key", ""), fault)
    if operator in ("In", "NotIn"):
        if not values:
            yield causes.required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            yield causes.forbidden(f"{path}.values", detail)
    else:
        yield causes.invalid(f"{path}.operator", operator, "not a valid selector operator")
    for index, value in enumerate(values):
        if fault := label_value_fault(value):
            yield causes.invalid(f"{path}.values[{index}]", value, fault)
