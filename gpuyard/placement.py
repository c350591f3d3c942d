"""Concrete devices for every container of a pod on one node, or the reason why not.

Stands for the kubelet's device manager, ahead of time: containers in its order, devices of ended init containers used
again by later containers, devices of sidecars and app containers kept.
"""

from collections.abc import Sequence

from gpuyard import choice, fit, requests, shortages
from gpuyard.annotations import Allocation
from gpuyard.cluster import Node, Placement
from gpuyard.fit import PodFit, Shortfall
from gpuyard.inventory import Device, Inventory
from gpuyard.requests import ContainerKind, PodRequest, Want
from gpuyard.verdicts import Reason, Rejection


def place(request: PodRequest, node: Node) -> Allocation | Rejection:
    """The devices that the containers get on `node`, by GPU and place.

    Empty, without any judgement, where the node has no inventory: there kube-scheduler's own count decides.
    """
    if node.inventory is None:
        return {}
    for resource, needed in sorted(request.totals.items()):
        short = shortages.by_devices(node, resource, needed)
        if short:
            return short
    return _fill(request, node, node.inventory)


def judge(pod: PodFit, request: PodRequest, node: Node) -> Placement | Rejection:
    """Whether the pod fits the node by everything: in-tree filters first, then devices, then amounts."""
    shortfalls = fit.check(pod, node.fit, node.used)
    if shortfalls and not shortfalls[0].resource:
        return Rejection(node.name, shortfalls[0].reason, shortfalls[0].text)
    allocation = place(request, node)
    if isinstance(allocation, Rejection):
        return allocation
    if shortfalls:
        return _short_of(pod, node, shortfalls)
    return Placement(request.uid, node.name, allocation, pod.requests)


def _short_of(pod: PodFit, node: Node, shortfalls: Sequence[Shortfall]) -> Rejection:
    """GPUs are named first: they are what people wait for."""
    for shortfall in shortfalls:
        if requests.is_device_resource(shortfall.resource):
            return shortages.by_count(node, shortfall.resource, pod.requests[shortfall.resource])
    texts = ", ".join(shortfall.text for shortfall in shortfalls)
    return Rejection(node.name, Reason.INSUFFICIENT_RESOURCES, texts)


def _fill(request: PodRequest, node: Node, inventory: Inventory) -> Allocation | Rejection:
    """The kubelet's walk over the containers. `reusable` holds what ended init containers leave behind."""
    allocation: dict[str, dict[str, tuple[str, ...]]] = {}
    reusable: dict[str, tuple[Device, ...]] = {}
    owned = list(node.owned())
    for want in request.wants:
        left_behind = reusable.get(want.resource, ())
        chosen = _devices(want, left_behind, inventory, node.free(want.resource), owned)
        if len(chosen) < want.count:
            return Rejection(
                node.name, Reason.NO_MIG_PLACEMENT, f"{want.resource} of {want.container} overlap"
            )
        owned += [device for device in chosen if device not in owned]
        reusable[want.resource] = _left_behind(want, left_behind, chosen)
        allocation.setdefault(want.container, {})[want.resource] = tuple(device.id for device in chosen)
    return allocation


def _devices(
    want: Want,
    left_behind: tuple[Device, ...],
    inventory: Inventory,
    idle: Sequence[Device],
    owned: Sequence[Device],
) -> tuple[Device, ...]:
    """What is left behind is used before anything new is taken."""
    if want.count <= len(left_behind):
        return choice.choose(inventory, left_behind, (), owned, want.count)
    new = [device for device in idle if not any(device.overlaps(other) for other in owned)]
    return choice.choose(inventory, [*left_behind, *new], left_behind, owned, want.count)


def _left_behind(want: Want, before: tuple[Device, ...], chosen: tuple[Device, ...]) -> tuple[Device, ...]:
    if want.kind is ContainerKind.INIT:
        return tuple(dict.fromkeys((*before, *chosen)))
    return tuple(device for device in before if device not in chosen)
