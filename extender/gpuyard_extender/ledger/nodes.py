"""A node as the extender sees it, and its state of allocation.

Stands for the scheduler's NodeInfo.
"""

from collections.abc import Collection
from dataclasses import dataclass

from gpuyard import annotations, vocabulary
from gpuyard.hardware.inventory import Inventory
from gpuyard.placing.cluster import Node
from gpuyard.pods.fit import NodeFit
from gpuyard.writes import JSON
from gpuyard_extender.ledger import claims
from gpuyard_extender.ledger.claims import Tenants


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What one Node object says. Without an inventory (NVIDIA's own plugin) only counts are known.

    Where fake GPUs are asked for, one is to come: a kubelet may offer them before their plugin has written it, and
    until then nothing can be had.
    """

    name: str
    fit: NodeFit
    inventory: Inventory | None
    unreadable: bool = False
    """Whether it has an inventory that cannot be read, and counts as one without."""


def read(obj: JSON) -> NodeFacts | None:
    """The facts of an API object; None when the object cannot be used."""
    try:
        metadata = obj["metadata"]
        text = (metadata.get("annotations") or {}).get(vocabulary.INVENTORY)
        inventory = annotations.read_inventory(text)
        unreadable = text is not None and inventory is None
        if inventory is None and (metadata.get("labels") or {}).get(vocabulary.FAKE_GPUS) == "true":
            inventory = Inventory()
        return NodeFacts(str(obj["metadata"]["name"]), NodeFit.of(obj), inventory, unreadable)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def build(facts: NodeFacts, tenants: Tenants, besides: Collection[str] = ()) -> Node:
    """The node with the claims of all pods on it, except those of `besides` (UIDs).

    A device with two claims belongs to the pod that holds it, not to the one that it was promised to, and least of
    all to one that others have yet to leave it to.
    """
    booked = dict(tenants.booked)
    for uid in set(besides) & tenants.claims.keys():
        claims.add(booked, tenants.claims[uid], -1)
    counted = [(uid, claim) for uid, claim in sorted(tenants.holders.items()) if uid not in besides]
    counted.sort(key=lambda found: found[1].yields_above is not None)
    owners: dict[str, str] = {}
    contested: dict[str, tuple[str, ...]] = {}
    taken = [(uid, c.held) for uid, c in counted if c.held] + [
        (uid, c.promised) for uid, c in counted if c.promised
    ]
    for uid, devices in taken:
        for device in sorted(devices):
            if owners.setdefault(device, uid) != uid:
                contested[device] = (*contested.get(device, ()), uid)
    limited = {uid: claim.limits for uid, claim in counted if claim.limits}
    return Node(facts.name, facts.fit, facts.inventory, booked, owners, contested, limited)
