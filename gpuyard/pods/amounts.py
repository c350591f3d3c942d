"""How much a pod asks for and a node has, as integers by resource name.

Stands for `k8s.io/component-helpers/resource` (PodRequests) and the scheduler's Resource type. Units: `cpu` in
thousandths, memory, ephemeral storage and hugepages in bytes, `pods` and extended resources in pieces.
"""

import enum
import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gpuyard.pods import quantities
from gpuyard.writes import JSON

Amounts = Mapping[str, int]

CPU = "cpu"
MEMORY = "memory"
MIB = 2**20
PODS = "pods"
_POD_LEVEL = ("cpu", "memory", "hugepages-")


class ContainerKind(enum.Enum):
    """What a container's resources mean for its pod: init containers end before the next one starts."""

    INIT = enum.auto()
    SIDECAR = enum.auto()
    APP = enum.auto()


def containers_of(pod: JSON) -> Iterator[tuple[ContainerKind, JSON]]:
    """The containers in the kubelet's order: init containers and sidecars as written, then app containers."""
    spec = pod.get("spec") or {}
    for container in spec.get("initContainers") or ():
        sidecar = container.get("restartPolicy") == "Always"
        yield (ContainerKind.SIDECAR if sidecar else ContainerKind.INIT), container
    for container in spec.get("containers") or ():
        yield ContainerKind.APP, container


def peak(steps: Iterable[tuple[ContainerKind, Amounts]]) -> dict[str, int]:
    """The most that containers in kubelet order hold at one time, by resource.

    An init container runs beside the sidecars that started before it; app containers run beside all of them.
    """
    running: dict[str, int] = {}
    highest: dict[str, int] = {}
    for kind, amounts in steps:
        for resource, amount in amounts.items():
            beside = running.get(resource, 0) + amount
            if kind is not ContainerKind.INIT:
                running[resource] = beside
            highest[resource] = max(highest.get(resource, 0), beside)
    return highest


def requests_of(pod: JSON) -> dict[str, int]:
    """What the scheduler books for a pod; always with `"pods": 1`. Amounts that cannot be read count as 0."""
    nano = peak((kind, _container_nano(container)) for kind, container in containers_of(pod))
    spec = pod.get("spec") or {}
    for resource, amount in _nano((spec.get("resources") or {}).get("requests")).items():
        if resource.startswith(_POD_LEVEL):
            nano[resource] = amount
    for resource, amount in _nano(spec.get("overhead")).items():
        nano[resource] = nano.get(resource, 0) + amount
    return {**{resource: _units(resource, amount) for resource, amount in nano.items() if amount}, PODS: 1}


def read(found: Mapping[str, Any] | None) -> dict[str, int]:
    """The amounts in a map of quantities, such as a node's allocatable; what cannot be read counts as 0."""
    return {resource: _units(resource, amount) for resource, amount in _nano(found).items()}


def _container_nano(container: JSON) -> dict[str, int]:
    resources = container.get("resources") or {}
    # The API server's defaulting: a limit without a request is the request too.
    return _nano({**(resources.get("limits") or {}), **(resources.get("requests") or {})})


def _nano(found: Mapping[str, Any] | None) -> dict[str, int]:
    """Billionths by resource: containers are added up before anything is rounded, as kube-scheduler does."""
    return {resource: _nano_of(text) for resource, text in (found or {}).items()}


def _nano_of(text: Any) -> int:
    try:
        return max(0, quantities.parse(text).nano)
    except ValueError:
        return 0


# Thousands of pods ask for the same few amounts.
@functools.lru_cache(maxsize=8192)
def _units(resource: str, nano: int) -> int:
    quantity = quantities.Quantity(nano)
    return quantity.milli if resource == CPU else quantity.rounded_up
