"""Nodes and GPUs of which more is asked than there is.

Stands for the checks that a kubelet makes at admission. Law: devices are compared with what the node offers; where
pods say how much of a GPU their shares may use, the sum is compared with that GPU.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from gpuyard.annotations import ids
from gpuyard.auditing.evidence import AuditedNode, AuditedPod
from gpuyard.auditing.findings import Finding, Flaw
from gpuyard.hardware.gpus import GPU, WHOLE
from gpuyard.hardware.inventory import Inventory
from gpuyard.placing import parts
from gpuyard.pods.limits import Limits

ASKED, OFFERED = "asked", "offered"


def over_committed(node: AuditedNode, pods: Collection[AuditedPod]) -> Iterator[Finding]:
    """Of the pods bound to a node, and its GPUs."""
    asked = Counter[str]()
    for pod in pods:
        asked.update(pod.asked)
    for resource, count in sorted(asked.items()):
        if count > (offered := node.offered.get(resource, 0)):
            yield _finding(node, resource, count, offered)
    if node.inventory is not None and any(pod.limits for pod in pods):
        for gpu in node.inventory.gpus:
            used, there = _used(gpu, node.inventory, pods), Limits(WHOLE, gpu.memory_mib)
            if not used.within(there):
                yield _finding(node, f"GPU {gpu.index}", used, there)


def _used(gpu: GPU, inventory: Inventory, pods: Iterable[AuditedPod]) -> Limits:
    """What the shares of a GPU may use in all."""
    shares = {d.id: d for d in inventory.devices() if d.gpu == gpu.index and parts.is_handle(d)}
    held = ((pod, ids({**(pod.plan or {}), **pod.truth}) & shares.keys()) for pod in pods)
    used = (parts.used(shares[found], gpu, inventory, pod.limits) for pod, mine in held for found in mine)
    return sum(used, Limits())


def _finding(node: AuditedNode, subject: str, asked: object, offered: object) -> Finding:
    says = {ASKED: (str(asked),), OFFERED: (str(offered),)}
    return Finding(Flaw.OVER_COMMITTED, node.name, subject, says)
