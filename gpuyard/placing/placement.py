"""Concrete devices for every container of a pod on one node, or the reason why not.

Stands for the kubelet's device manager, ahead of time: containers in its order, devices of ended init containers used
again by later containers, devices of sidecars and app containers kept. Nodes that are alike are judged once.
"""

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Final

from gpuyard.annotations import Allocation
from gpuyard.hardware.inventory import Device
from gpuyard.placing import choice, eligibility, room, shortages
from gpuyard.placing.cluster import Node, Placement
from gpuyard.placing.occupancy import Occupancy
from gpuyard.pods import fit, requests
from gpuyard.pods.fit import PodFit, Shortfall
from gpuyard.pods.requests import ContainerKind, PodRequest, Want
from gpuyard.pods.wishes import Topology, Wishes
from gpuyard.verdicts import Reason, Rejection

_WHOLE: Final = 1 << 10
"""Memory slices: more than any board has."""


def place(request: PodRequest, node: Node) -> Allocation | Rejection:
    """The devices that the containers get on `node`, by GPU and place.

    Empty where the node has no inventory: there kube-scheduler's own count decides, as far as wishes allow it.
    """
    found = numbered_on(request, node)
    if isinstance(found, Rejection):
        return dataclasses.replace(found, node=node.name)
    devices = node.inventory.devices() if node.inventory else ()
    return {
        container: {resource: tuple(devices[i].id for i in numbers) for resource, numbers in held.items()}
        for container, held in found.items()
    }


Numbered = Mapping[str, Mapping[str, tuple[int, ...]]]
"""An allocation by numbers of devices."""


def numbered_on(request: PodRequest, node: Node) -> Numbered | Rejection:
    """The same by numbers of devices."""
    if node.occupancy is None:
        return eligibility.by_labels(request.wishes, node, request.totals) or {}
    seen = node.occupancy.to(want.resource for want in request.wants)
    return numbered(request.wants, request.wishes, seen)


@functools.lru_cache(maxsize=32768)
def numbered(wants: tuple[Want, ...], wishes: Wishes, occupancy: Occupancy) -> Numbered | Rejection:
    """The devices for these containers on every node with this occupancy; a Rejection names no node."""
    totals = requests.totals(wants)
    narrowed = _eligible(wishes, occupancy, totals)
    if isinstance(narrowed, Rejection):
        return narrowed
    for resource, needed in sorted(totals.items()):
        short = shortages.by_devices(narrowed, resource, needed)
        if short:
            return short
    if wishes.topology is Topology.BEST_EFFORT:
        return _fill(wants, narrowed)
    return _together(wants, wishes, narrowed)


def _eligible(wishes: Wishes, occupancy: Occupancy, totals: Mapping[str, int]) -> Occupancy | Rejection:
    """The devices as they are to a pod that asks for `totals`: idle are those that it may have one by one."""
    found = eligibility.narrowed(wishes, occupancy, totals)
    return found if isinstance(found, Rejection) else room.narrowed(wishes.limits, found, totals)


def _together(wants: tuple[Want, ...], wishes: Wishes, occupancy: Occupancy) -> Numbered | Rejection:
    """All in one domain; where none has it all and the topology is only preferred, as without the wish."""
    totals = requests.totals(wants)
    for domain in eligibility.domains(wishes, occupancy, totals):
        if not any(shortages.by_devices(domain, resource, needed) for resource, needed in totals.items()):
            found = _fill(wants, domain)
            if not isinstance(found, Rejection):
                return found
    return eligibility.apart(wishes, occupancy, totals) if wishes.required else _fill(wants, occupancy)


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
    return Placement(request.uid, node.name, allocation, pod.requests, request.wishes.limits)


def _short_of(pod: PodFit, node: Node, shortfalls: Sequence[Shortfall]) -> Rejection:
    """GPUs are named first: they are what people wait for."""
    for shortfall in shortfalls:
        if requests.is_device_resource(shortfall.resource):
            return shortages.by_count(node, shortfall.resource, pod.requests[shortfall.resource])
    texts = ", ".join(shortfall.text for shortfall in shortfalls)
    return Rejection(node.name, Reason.INSUFFICIENT_RESOURCES, texts)


def _fill(wants: Sequence[Want], occupancy: Occupancy) -> Numbered | Rejection:
    """The kubelet's walk over the containers. `reusable` holds what ended init containers leave behind."""
    allocation: dict[str, dict[str, tuple[int, ...]]] = {}
    reusable: dict[str, tuple[Device, ...]] = {}
    gained: list[Device] = []
    for want in _in_turn(wants, occupancy):
        left_behind = reusable.get(want.resource, ())
        chosen = _devices(want, left_behind, occupancy, gained)
        if len(chosen) < want.count:
            return shortages.by_places(occupancy, want.resource, want.container)
        gained += [device for device in chosen if device not in gained]
        reusable[want.resource] = _left_behind(want, left_behind, chosen)
        allocation.setdefault(want.container, {})[want.resource] = tuple(int(device.id) for device in chosen)
    return allocation


def _in_turn(wants: Sequence[Want], occupancy: Occupancy) -> Sequence[Want]:
    """The kubelet's order where init containers leave devices behind, else first what is hardest to place.

    Small MIG instances, placed first, can leave no room for large ones that would have left room for them.
    """
    if any(want.kind is not ContainerKind.APP for want in wants):
        return wants

    def ease(want: Want) -> tuple[int, int]:
        offered = occupancy.offered(want.resource)
        return -min((device.size or _WHOLE for device in offered), default=0), len(offered)

    return sorted(wants, key=ease) if len({want.resource for want in wants}) > 1 else wants


def _devices(
    want: Want, left_behind: tuple[Device, ...], occupancy: Occupancy, gained: Sequence[Device]
) -> tuple[Device, ...]:
    """What is left behind is used before anything new is taken. `gained`: what the pod has got so far."""
    inventory, owned = occupancy.inventory, (*occupancy.owned, *gained)
    if want.count <= len(left_behind):
        return choice.choose(inventory, left_behind, (), owned, want.count)
    # What is idle overlaps nothing that is owned: only what the pod itself has got can be in the way.
    idle = occupancy.free(want.resource)
    new = [device for device in idle if not any(map(device.overlaps, gained))]
    return choice.choose(inventory, [*left_behind, *new], left_behind, owned, want.count)


def _left_behind(want: Want, before: tuple[Device, ...], chosen: tuple[Device, ...]) -> tuple[Device, ...]:
    if want.kind is ContainerKind.INIT:
        return tuple(dict.fromkeys((*before, *chosen)))
    return tuple(device for device in before if device not in chosen)
