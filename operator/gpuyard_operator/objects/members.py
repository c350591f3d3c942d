"""The members of a gang, read from pods: only what starting a gang depends on.

Stands for the pod helpers of kube-scheduler's coscheduling plugin. Pods are other people's data: what is missing or
malformed reads as "not there yet".
"""

from dataclasses import dataclass
from typing import Any

from gpuyard import vocabulary
from gpuyard.groups.roles import Role, role_of
from gpuyard.pods import memberships
from gpuyard.pods.phases import ENDED
from gpuyard.pods.requests import is_device_resource
from gpuyard.writes import JSON
from gpuyard_kube.conditions import condition


@dataclass(frozen=True, slots=True)
class Member:
    """One pod that claims the group. `node` is empty until it is bound."""

    namespace: str
    name: str
    uid: str
    node: str = ""
    phase: str = "Pending"
    gated: bool = False
    """Our gate is on it."""
    held: bool = False
    """Somebody else's gate is on it: it could not start, whatever we decide."""
    guarded: bool = True
    """It asks for devices: the extender binds it to a reserved place only. Without, its gate alone holds a pod."""
    terminating: bool = False
    nominated: str = ""
    native: bool = False
    """kube-scheduler starts it with a group of its own API."""
    created: str = ""
    """When, as the API says it."""
    scheduler: str = vocabulary.SCHEDULER
    priority: int = 0
    role: Role = Role()

    @property
    def live(self) -> bool:
        return not self.terminating and self.phase not in ENDED

    @property
    def succeeded(self) -> bool:
        return self.phase == "Succeeded"

    @property
    def present(self) -> bool:
        """It counts towards minMember: it can start, runs, or has done its work."""
        return self.succeeded or (self.live and not self.held)

    @property
    def waiting(self) -> bool:
        return self.live and not self.held and not self.node

    @property
    def loose(self) -> bool:
        """Nothing keeps it from starting alone."""
        return self.waiting and not self.gated and not self.guarded

    @property
    def holding(self) -> bool:
        """It is live on a node."""
        return self.live and bool(self.node)

    @property
    def running(self) -> bool:
        return self.phase == "Running" and not self.terminating


def read(pod: JSON) -> Member | None:
    """The member that a pod is; None when it has no name or uid."""
    metadata, spec, status = (_mapping(pod.get(part)) for part in ("metadata", "spec", "status"))
    if not metadata.get("name") or not metadata.get("uid"):
        return None
    gates = [gate.get("name") for gate in spec.get("schedulingGates") or () if isinstance(gate, dict)]
    return Member(
        namespace=str(metadata.get("namespace", "")),
        name=str(metadata["name"]),
        uid=str(metadata["uid"]),
        node=node_of(pod),
        phase=str(status.get("phase") or "Pending"),
        gated=vocabulary.GANG_GATE in gates,
        held=any(gate != vocabulary.GANG_GATE for gate in gates),
        guarded=_has_gpus(spec),
        terminating=bool(metadata.get("deletionTimestamp")),
        nominated=str(status.get("nominatedNodeName") or ""),
        native=memberships.is_native(pod),
        created=str(metadata.get("creationTimestamp") or ""),
        scheduler=str(spec.get("schedulerName") or vocabulary.SCHEDULER),
        priority=_whole(spec.get("priority")),
        role=role_of(_mapping(metadata.get("labels"))),
    )


def node_of(pod: JSON) -> str:
    """Where a pod is bound to; empty before."""
    return str(_mapping(pod.get("spec")).get("nodeName") or "")


def is_stuck(pod: JSON) -> bool:
    """Whether kube-scheduler has found no node for a pod with GPUs for which others may have to go."""
    spec, status = _mapping(pod.get("spec")), _mapping(pod.get("status"))
    if spec.get("nodeName") or spec.get("schedulingGates") or spec.get("preemptionPolicy") == "Never":
        return False
    if _mapping(pod.get("metadata")).get("deletionTimestamp") or status.get("phase") in ENDED:
        return False
    if spec.get("schedulerName") in memberships.OTHER_SCHEDULERS:
        return False
    tried = condition(status, "PodScheduled").get("reason") == "Unschedulable"
    return tried and not memberships.is_native(pod) and _has_gpus(spec)


def _has_gpus(spec: JSON) -> bool:
    containers = (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
    limits = (
        _mapping(_mapping(_mapping(container).get("resources")).get("limits")) for container in containers
    )
    return any(
        is_device_resource(name) and amount not in (0, "0")
        for found in limits
        for name, amount in found.items()
    )


def _whole(number: Any) -> int:
    return number if isinstance(number, int) else 0


def _mapping(part: Any) -> JSON:
    return part if isinstance(part, dict) else {}
