"""Amounts of resources: of containers and of nodes.

Stands for `validateContainerResourceRequirements` and `ValidateResourceQuantityValue`.
"""

from collections.abc import Iterator

from gpuyard.pods.quantities import NANO, parse
from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import Cause
from gpuyard_cluster.apiserver.rules import causes
from gpuyard_cluster.apiserver.rules.names import qualified_fault

_CONTAINER_RESOURCES = frozenset({"cpu", "memory", "ephemeral-storage"})
_NATIVE_DOMAIN = "kubernetes.io/"
_HUGE_PAGES = "hugepages-"


def requirement_faults(resources: JSON, path: str) -> Iterator[Cause]:
    """Faults of the `resources` of one container."""
    limits, requests = resources.get("limits", {}), resources.get("requests", {})
    for side, amounts in (("limits", limits), ("requests", requests)):
        for name, amount in amounts.items():
            yield from _name_faults(name, f"{path}.{side}[{name}]")
            yield from amount_faults(name, amount, f"{path}.{side}[{name}]")
    for name, amount in requests.items():
        yield from _excess(name, amount, limits.get(name), path)


def amount_faults(name: str, amount: str, path: str) -> Iterator[Cause]:
    """Faults of one amount: negative, or a fraction of what exists in units only."""
    quantity = parse(amount)
    if quantity.nano < 0:
        yield causes.invalid(path, amount, "must be greater than or equal to 0")
    if is_extended(name) and quantity.nano % NANO:
        yield causes.invalid(path, amount, "must be an integer")


def is_extended(name: str) -> bool:
    """Whether a resource is one that a device plugin brings, such as `example.com/gpu`."""
    return "/" in name and _NATIVE_DOMAIN not in name and not name.startswith("requests.")


def _name_faults(name: str, path: str) -> Iterator[Cause]:
    if fault := qualified_fault(name):
        yield causes.invalid(path, name, fault)
    elif "/" not in name and name not in _CONTAINER_RESOURCES and not name.startswith(_HUGE_PAGES):
        yield causes.invalid(path, name, "must be a standard resource for containers")
    elif "/" in name and not is_extended(name) and _NATIVE_DOMAIN not in name:
        yield causes.invalid(path, name, "doesn't follow extended resource name standard")


def _excess(name: str, request: str, limit: str | None, path: str) -> Iterator[Cause]:
    """A request and its limit: equal where a resource cannot be overcommitted, else not above it."""
    fixed = is_extended(name) or name.startswith(_HUGE_PAGES)
    if limit is None:
        if fixed:
            yield causes.required(f"{path}.limits", "Limit must be set for non overcommitable resources")
        return
    asked, allowed = parse(request).nano, parse(limit).nano
    if fixed and asked != allowed:
        yield causes.invalid(f"{path}.requests", request, f"must be equal to {name} limit of {limit}")
    elif asked > allowed:
        yield causes.invalid(
            f"{path}.requests", request, f"must be less than or equal to {name} limit of {limit}"
        )
