"""Which GPU devices the containers of a pod ask for.

Stands for what the kubelet's device manager reads from a container: its limits, resource by resource.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from gpuyard import vocabulary
from gpuyard.hardware import mig
from gpuyard.pods import limits, memberships, quantities, wishes
from gpuyard.pods.amounts import ContainerKind, containers_of, peak
from gpuyard.pods.wishes import Wishes
from gpuyard.verdicts import Reason, Rejection
from gpuyard.writes import JSON

__all__ = ["ContainerKind", "PodRequest", "Want", "is_device_resource", "parse", "totals"]

_RESOURCES = frozenset(mig.managed_resources())


@dataclass(frozen=True, slots=True)
class Want:
    """`container` asks for `count` devices of `resource`; at least one."""

    container: str
    resource: str
    count: int
    kind: ContainerKind = ContainerKind.APP


@dataclass(frozen=True, slots=True)
class PodRequest:
    """What one pod asks for. `wants` are in the kubelet's order; `group` is the PodGroup in its namespace."""

    uid: str
    namespace: str
    name: str
    wants: tuple[Want, ...] = ()
    group: str | None = None
    wishes: Wishes = wishes.NONE

    @property
    def totals(self) -> dict[str, int]:
        """Devices held at one time, by resource: app containers reuse those of ended init containers."""
        return totals(self.wants)

    @property
    def has_gpus(self) -> bool:
        return bool(self.wants)


def totals(wants: Iterable[Want]) -> dict[str, int]:
    """Devices that containers in the kubelet's order hold at one time, by resource."""
    return peak((want.kind, {want.resource: want.count}) for want in wants)


def is_device_resource(name: str) -> bool:
    """Whether the name stands for GPU devices, known or not: nvidia.com/gpu, its shares, nvidia.com/mig-*."""
    return name in (vocabulary.GPU, vocabulary.GPU_SHARED) or name.startswith(vocabulary.MIG_PREFIX)


def parse(pod: JSON) -> PodRequest | Rejection:
    """The request of a Pod object; a Rejection names the field and the remedy when it cannot be understood."""
    metadata = pod.get("metadata") or {}
    try:
        wants = tuple(want for kind, container in containers_of(pod) for want in _wants(kind, container))
        annotations = metadata.get("annotations") or {}
        # A pod without GPUs may wish what it likes, nobody is asked; but who limits a share means to have one.
        wished = wishes.parse(annotations) if wants else Wishes(limits=limits.parse(annotations))
        limits.check(wished.limits, totals(wants))
    except ValueError as error:
        return Rejection("", Reason.INVALID_REQUEST, str(error))
    return PodRequest(
        uid=str(metadata.get("uid", "")),
        namespace=str(metadata.get("namespace") or "default"),
        name=str(metadata.get("name", "")),
        wants=wants,
        group=memberships.group_of(pod),
        wishes=wished,
    )


def _wants(kind: ContainerKind, container: JSON) -> Iterator[Want]:
    """In order of resource name, so that equal pods are planned equally. ValueError for a bad amount."""
    resources = container.get("resources") or {}
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for resource in sorted({*limits, *requests}):
        if not is_device_resource(resource):
            continue
        where = f"container {container.get('name', '')}: {resource}"
        if resource not in _RESOURCES:
            raise ValueError(f"{where}: no GPU has such a profile; ask for one that a node offers")
        count = _count(limits.get(resource, requests.get(resource)), where)
        if _count(requests.get(resource, count), where) != count:
            raise ValueError(f"{where}: requests and limits differ; make them equal or leave requests out")
        if count:
            yield Want(str(container.get("name", "")), resource, count, kind)


def _count(amount: Any, where: str) -> int:
    try:
        count = quantities.whole(amount)
    except ValueError as error:
        raise ValueError(f"{where}: {error}; ask for a whole number of devices") from error
    if count < 0:
        raise ValueError(f"{where}: {count} is negative; ask for 0 or more devices")
    return count
