"""A pod as a whole, at its creation.

Stands for `ValidatePodCreate` and `ValidatePodSpec`.
"""

from collections.abc import Iterator

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import Cause
from gpuyard_cluster.apiserver.rules import causes
from gpuyard_cluster.apiserver.rules.containers import container_faults, one_of, volume_faults
from gpuyard_cluster.apiserver.rules.names import label_fault, subdomain_fault
from gpuyard_cluster.apiserver.rules.placement import placement_faults

_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_PREEMPTION_POLICIES = ("Never", "PreemptLowerPriority")


def create_faults(pod: JSON) -> Iterator[Cause]:
    """Faults of a new pod."""
    spec = pod.get("spec", {})
    yield from spec_faults(spec, "spec")
    if spec.get("schedulingGates") and spec.get("nodeName"):
        yield causes.forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")


def spec_faults(spec: JSON, path: str) -> Iterator[Cause]:
    """Faults of the spec of a pod or of a pod template, which is at `path`."""
    yield from volume_faults(spec, path)
    yield from container_faults(spec, path)
    yield from one_of(spec, "restartPolicy", _RESTART_POLICIES, path)
    yield from one_of(spec, "dnsPolicy", _DNS_POLICIES, path)
    yield from one_of(spec, "preemptionPolicy", _PREEMPTION_POLICIES, path)
    yield from placement_faults(spec, path)
    if spec.get("activeDeadlineSeconds", 1) < 1:
        detail = "must be between 1 and 2147483647, inclusive"
        yield causes.invalid(f"{path}.activeDeadlineSeconds", spec["activeDeadlineSeconds"], detail)
    for field in ("hostname", "subdomain"):
        if (label := spec.get(field)) and (fault := label_fault(label)):
            yield causes.invalid(f"{path}.{field}", label, fault)
    for field in ("nodeName", "serviceAccountName", "priorityClassName"):
        if (name := spec.get(field)) and (fault := subdomain_fault(name)):
            yield causes.invalid(f"{path}.{field}", name, fault)


def status_faults(status: JSON) -> Iterator[Cause]:
    """Faults of a status that a kubelet or scheduler reports."""
    if (name := status.get("nominatedNodeName")) and (fault := subdomain_fault(name)):
        yield causes.invalid("status.nominatedNodeName", name, fault)
