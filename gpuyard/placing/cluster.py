"""A snapshot of the cluster as a value: what each node has, what is booked on it, and which pod owns which device.

Stands for kube-scheduler's NodeInfo snapshot and KAI's Statement: a new value is a trial, keeping it commits,
dropping it rolls back. Law: placing and then removing gives the value from before; what is over-committed is never
free, never negative, and stays visible (`contested`, `used`).
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

from gpuyard.annotations import Allocation
from gpuyard.hardware.inventory import Device, Inventory
from gpuyard.placing.occupancy import Occupancy, occupancy
from gpuyard.pods import limits
from gpuyard.pods.fit import Amounts, NodeFit
from gpuyard.pods.limits import Limits


@dataclass(frozen=True, slots=True)
class Placement:
    """Pod `uid` on `node`: the devices of its containers, what it books in all, and what its share may use."""

    uid: str
    node: str
    allocation: Allocation
    requests: Amounts
    limits: Limits = limits.NONE

    @property
    def ids(self) -> tuple[str, ...]:
        """Its device ids, each once."""
        held = (ids for resources in self.allocation.values() for ids in resources.values())
        return tuple(dict.fromkeys(identity for ids in held for identity in ids))


@dataclass(frozen=True, slots=True)
class Node:
    """One node. `inventory` None: only counts are known. `owners`: device id -> pod uid, known devices or not.

    `limits`: pod uid -> what its share may use, of the pods that say so.
    """

    name: str
    fit: NodeFit
    inventory: Inventory | None = None
    used: Amounts = field(default_factory=dict)
    owners: Mapping[str, str] = field(default_factory=dict)
    contested: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Device id -> pods that claim it too, in the order in which they came: they wait for the owner to go."""
    limits: Mapping[str, Limits] = field(default_factory=dict)
    occupancy: Occupancy | None = field(init=False, repr=False, compare=False)
    """What the devices look like without names; None without an inventory."""

    def __post_init__(self) -> None:
        found = None if self.inventory is None else occupancy(self.inventory, self.owners, self.limits)
        object.__setattr__(self, "occupancy", found)

    def devices(self, resource: str) -> tuple[Device, ...]:
        """All devices of the resource, by GPU index, then by place on the GPU."""
        every = self.inventory.devices() if self.inventory else ()
        return tuple(device for device in every if device.resource == resource)

    def idle(self, resource: str) -> tuple[Device, ...]:
        """The devices that nobody owns, wholly or in part; also unhealthy ones."""
        every = self.inventory.devices() if self.inventory else ()
        idle = self.occupancy.idle if self.occupancy else ()
        return tuple(every[i] for i in idle if every[i].resource == resource)

    def free(self, resource: str) -> tuple[Device, ...]:
        """The devices that a pod can get: healthy and idle."""
        return tuple(device for device in self.idle(resource) if device.healthy)

    def owned(self) -> tuple[Device, ...]:
        """The devices of the inventory that have an owner."""
        every = self.inventory.devices() if self.inventory else ()
        return tuple(device for device in every if device.id in self.owners)

    def total(self, resource: str) -> int:
        """How many devices there are, by inventory where there is one, else by allocatable."""
        return len(self.devices(resource)) if self.inventory else self.fit.allocatable.get(resource, 0)

    def left(self, resource: str) -> int:
        """How many a pod can get, by inventory where there is one, else what is not booked of allocatable."""
        if self.inventory:
            return len(self.free(resource))
        return max(0, self.fit.allocatable.get(resource, 0) - self.used.get(resource, 0))

    def taking(self, placement: Placement) -> "Node":
        """This node with the placement on it."""
        owners, contested = dict(self.owners), dict(self.contested)
        for identity in placement.ids:
            if owners.setdefault(identity, placement.uid) != placement.uid:
                contested[identity] = (*contested.get(identity, ()), placement.uid)
        used = _sum(self.used, placement.requests, 1)
        limited = {**self.limits, placement.uid: placement.limits} if placement.limits else self.limits
        return dataclasses.replace(self, used=used, owners=owners, contested=contested, limits=limited)

    def releasing(self, *placements: Placement) -> "Node":
        """This node without the placements; a device goes to the next pod that claims it."""
        owners, contested, used = dict(self.owners), dict(self.contested), dict(self.used)
        for placement in placements:
            _release(placement, owners, contested)
            used = _sum(used, placement.requests, -1)
        gone = {placement.uid for placement in placements}
        limited = {uid: found for uid, found in self.limits.items() if uid not in gone}
        return dataclasses.replace(self, used=used, owners=owners, contested=contested, limits=limited)


@dataclass(frozen=True, slots=True)
class Cluster:
    """All nodes by name. A placement on a node that is not known changes nothing."""

    nodes: Mapping[str, Node] = field(default_factory=dict)

    def with_placement(self, placement: Placement) -> "Cluster":
        node = self.nodes.get(placement.node)
        return self.with_node(node.taking(placement)) if node else self

    def without(self, placement: Placement) -> "Cluster":
        node = self.nodes.get(placement.node)
        return self.with_node(node.releasing(placement)) if node else self

    def with_node(self, node: Node) -> "Cluster":
        return Cluster({**self.nodes, node.name: node})


def _release(placement: Placement, owners: dict[str, str], contested: dict[str, tuple[str, ...]]) -> None:
    for identity in placement.ids:
        claims = [uid for uid in contested.pop(identity, ()) if uid != placement.uid]
        if owners.get(identity) == placement.uid:
            del owners[identity]
            if claims:
                owners[identity] = claims.pop(0)
        if claims:
            contested[identity] = tuple(claims)


def _sum(used: Amounts, requests: Amounts, sign: int) -> dict[str, int]:
    """`used` plus or minus `requests`; never below zero, and nothing booked is no entry."""
    result = dict(used)
    for resource, amount in requests.items():
        result[resource] = max(0, result.get(resource, 0) + sign * amount)
        if not result[resource]:
            del result[resource]
    return result
