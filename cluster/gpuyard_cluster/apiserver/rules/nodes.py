"""Nodes: taints and amounts.

Stands for `ValidateNode`, `ValidateNodeResources` and `ValidateNodeUpdate`.
"""

from collections.abc import Iterator

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import Cause
from gpuyard_cluster.apiserver.rules import causes
from gpuyard_cluster.apiserver.rules.names import qualified_fault
from gpuyard_cluster.apiserver.rules.placement import taint_faults
from gpuyard_cluster.apiserver.rules.resources import amount_faults


def node_faults(node: JSON) -> Iterator[Cause]:
    """Faults of a node, new or changed, through whichever path."""
    yield from taint_faults(node.get("spec", {}).get("taints", []), "spec.taints")
    status = node.get("status", {})
    for side in ("capacity", "allocatable"):
        for name, amount in status.get(side, {}).items():
            path = f"status.{side}[{name}]"
            if fault := qualified_fault(name):
                yield causes.invalid(path, name, fault)
            yield from amount_faults(name, amount, path)


def update_faults(old: JSON, new: JSON) -> Iterator[Cause]:
    """Faults of a change from the node `old` to `new`."""
    yield from node_faults(new)
    before, after = old.get("spec", {}), new.get("spec", {})
    for field in ("providerID", "podCIDR"):
        if before.get(field) and after.get(field) != before[field]:
            yield causes.forbidden(f"spec.{field}", "node updates may not change it once set")
