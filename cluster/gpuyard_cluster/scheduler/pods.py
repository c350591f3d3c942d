"""What the scheduler keeps of a pod.

Stands for kube-scheduler's PodInfo: everything that filters and the queue look at, read once per version.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpuyard import vocabulary
from gpuyard.pods import fit
from gpuyard.pods.phases import has_ended
from gpuyard.writes import JSON

PROFILES = (vocabulary.SCHEDULER, vocabulary.GROUP_SCHEDULER)
_NOT_YET = "9999"


@dataclass(frozen=True, slots=True)
class PodInfo:
    """One version of a pod. `priority` is 0 where the API server set none; `obj` is the Pod object."""

    uid: str
    namespace: str
    name: str
    version: str
    priority: int
    created: str
    gated: bool
    nominated: str
    """The node in status.nominatedNodeName; empty for none."""
    node: str
    fit: fit.PodFit
    obj: JSON

    @classmethod
    def of(cls, pod: JSON) -> "PodInfo":
        metadata, spec, status = pod["metadata"], pod.get("spec") or {}, pod.get("status") or {}
        return cls(
            uid=metadata["uid"],
            namespace=metadata.get("namespace", "default"),
            name=metadata["name"],
            version=str(metadata.get("resourceVersion", "")),
            priority=int(spec.get("priority") or 0),
            created=str(metadata.get("creationTimestamp") or ""),
            gated=bool(spec.get("schedulingGates")),
            nominated=str(status.get("nominatedNodeName") or ""),
            node=str(spec.get("nodeName") or ""),
            fit=fit.PodFit.of(pod),
            obj=pod,
        )

    @property
    def key(self) -> str:
        """How people call the pod: namespace/name."""
        return f"{self.namespace}/{self.name}"

    @property
    def path(self) -> str:
        """Of the pod in the API."""
        return f"/api/v1/namespaces/{self.namespace}/pods/{self.name}"

    @property
    def ended(self) -> bool:
        """Whether its containers have ended for good: it holds nothing any more."""
        return has_ended(self.obj)

    @property
    def pending(self) -> bool:
        """Whether it is this scheduler's to bind."""
        named = (self.obj.get("spec") or {}).get("schedulerName", vocabulary.SCHEDULER)
        mine = named in PROFILES
        return mine and not (self.node or self.ended or self.leaving)

    @property
    def labels(self) -> Mapping[str, str]:
        return self.obj["metadata"].get("labels") or {}

    @property
    def started(self) -> str:
        """When it started; later than any time while it has not."""
        return str((self.obj.get("status") or {}).get("startTime") or _NOT_YET)

    @property
    def leaving(self) -> bool:
        """Whether it is being deleted."""
        return bool(self.obj["metadata"].get("deletionTimestamp"))

    @property
    def preempted(self) -> bool:
        """Whether it is being deleted because a scheduler wants its room."""
        target = self.condition("DisruptionTarget")
        cause = (target.get("status"), target.get("reason"))
        return self.leaving and cause == ("True", "PreemptionByScheduler")

    @property
    def preempts(self) -> bool:
        """Whether it may remove others."""
        return (self.obj.get("spec") or {}).get("preemptionPolicy") != "Never"

    def condition(self, kind: str) -> dict[str, Any]:
        """The condition of that type; empty when there is none."""
        conditions = (self.obj.get("status") or {}).get("conditions") or ()
        return next((found for found in conditions if found.get("type") == kind), {})
