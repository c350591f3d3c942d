"""Node objects that somebody else made up, as nodes to judge: a stranger's JSON, checked field by field.

Stands for the NodeInfo templates of the cluster autoscaler.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gpuyard import shapes
from gpuyard.placing.cluster import Node
from gpuyard.shapes import Shape
from gpuyard_extender.ledger import nodes
from gpuyard_extender.ledger.claims import Claim, Tenants

_SHAPES: Final = {
    "metadata": Shape.OBJECT,
    "metadata.labels": Shape.TEXTS,
    "metadata.annotations": Shape.TEXTS,
    "spec": Shape.OBJECT,
    "spec.taints": Shape.LIST,
    "status": Shape.OBJECT,
    "status.allocatable": Shape.OBJECT,
    "status.conditions": Shape.LIST,
}


def read(objects: Sequence[Any], field: str, claims: Mapping[str, Mapping[str, Claim]]) -> dict[str, Node]:
    """The nodes by name, with `claims`, by node and UID, on them; ValueError names the field that cannot be used."""
    found: dict[str, Node] = {}
    for i, obj in enumerate(objects):
        if problem := shapes.fault(obj, _SHAPES):
            raise ValueError(f"{field}[{i}]{problem}")
        name = (obj.get("metadata") or {}).get("name")
        if not isinstance(name, str) or not name:
            raise ValueError(f"{field}[{i}].metadata.name: a name is needed")
        facts = nodes.read(obj)
        if facts is None or facts.unreadable:
            what = "a Node object with a name" if facts is None else "an inventory that can be read"
            raise ValueError(f"{field}[{i}]: {what} is needed")
        if facts.name in found:
            raise ValueError(f"{field}[{i}].metadata.name: {facts.name!r:.80} is there twice; rename one")
        found[facts.name] = nodes.build(facts, Tenants(claims.get(facts.name)))
    return found
