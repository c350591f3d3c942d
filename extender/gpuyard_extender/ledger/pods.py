"""A pod as the extender sees it.

Stands for the scheduler's PodInfo. Which devices a pod holds is known from three sources: its own status (what the
kubelet gave), its plan (what the extender wrote into the Binding), nothing. Status beats plan, container by
container.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gpuyard import annotations, shapes, vocabulary
from gpuyard.annotations import Allocation, ids
from gpuyard.auditing.accounts import truth
from gpuyard.pods import limits, memberships, requests
from gpuyard.pods.fit import PodFit
from gpuyard.pods.limits import Limits
from gpuyard.pods.neighbours import Neighbour
from gpuyard.pods.phases import ENDED
from gpuyard.pods.requests import PodRequest
from gpuyard.shapes import Shape
from gpuyard.verdicts import Rejection
from gpuyard.writes import JSON
from gpuyard_extender.ledger import templates
from gpuyard_kube.store import version

_SHAPES: Final = {
    "metadata": Shape.OBJECT,
    "metadata.annotations": Shape.OBJECT,
    "metadata.labels": Shape.OBJECT,
    "spec": Shape.OBJECT,
    "spec.nodeSelector": Shape.OBJECT,
    "spec.affinity": Shape.OBJECT,
    "spec.affinity.nodeAffinity": Shape.OBJECT,
    "spec.affinity.podAntiAffinity": Shape.OBJECT,
    "spec.tolerations": Shape.LIST,
    "spec.containers": Shape.LIST,
    "spec.initContainers": Shape.LIST,
    "spec.topologySpreadConstraints": Shape.LIST,
    "spec.volumes": Shape.LIST,
    "status": Shape.OBJECT,
}
"""The fields of a Pod object that are read and have parts."""


@dataclass(frozen=True, slots=True)
class Pod:
    """One Pod object. `node` is empty until it is bound."""

    uid: str
    namespace: str
    name: str
    node: str
    phase: str
    terminating: bool
    group: str | None
    fit: PodFit
    request: PodRequest | Rejection
    neighbour: Neighbour
    plan: Allocation
    truth: Allocation
    drifted: bool = False
    """Whether the kubelet gave other devices than were planned."""
    version: int = field(default=0, compare=False)
    """Its resourceVersion; 0 where that says nothing."""
    priority: int = 0
    nominated: str = ""
    """The node on which kube-scheduler makes place for it."""
    preempts: bool = True
    """Whether others may have to go for it."""
    gated: bool = False
    """Whether a scheduling gate holds it."""
    spared: bool = False
    """Whether it goes for nobody."""
    started: str = ""
    """When its kubelet took it, as Kubernetes writes times."""
    grace_seconds: int = 30
    """How long it may take to end once it is told to."""

    @property
    def ended(self) -> bool:
        """Whether its containers have ended for good; a terminating pod's have not."""
        return self.phase in ENDED

    @property
    def labels(self) -> Mapping[str, str]:
        return self.neighbour.labels

    @property
    def pending(self) -> bool:
        """Whether it waits for a node."""
        return not (self.node or self.ended or self.terminating)

    @property
    def wants_gpus(self) -> bool:
        return isinstance(self.request, Rejection) or self.request.has_gpus

    @property
    def limits(self) -> Limits:
        """How much of its GPU its share may use."""
        return limits.NONE if isinstance(self.request, Rejection) else self.request.wishes.limits

    @property
    def unplanned(self) -> bool:
        """Whether it has GPUs that nobody has named, or not so that it can be read: counted, but not known."""
        has_gpus = any(map(requests.is_device_resource, self.fit.requests))
        return bool(self.node) and not self.ended and has_gpus and not (self.plan or self.truth)


def nominated_for(pod: Pod) -> str | None:
    """The node on which a pod is to be that waits for it; None where it does not."""
    return pod.nominated if pod.nominated and pod.pending else None


def read(obj: JSON) -> Pod | None:
    """The pod in an API object; None when the object cannot be used."""
    try:
        return _read(obj)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def fault(obj: Any) -> str:
    """What keeps `read` from using an object, after the word Pod: the first field that is no object or no list."""
    return shapes.fault(obj, _SHAPES) or ": a Pod object with name, namespace, uid and spec is needed"


def _read(obj: JSON) -> Pod:
    metadata, spec, status = obj["metadata"], obj["spec"], obj.get("status") or {}
    marks = metadata.get("annotations") or {}
    told = truth(obj)
    plan = annotations.read_allocation(marks.get(vocabulary.ALLOCATION)) or {}
    fit, request = templates.asked(obj)
    return Pod(
        uid=str(metadata["uid"]),
        namespace=str(metadata["namespace"]),
        name=str(metadata["name"]),
        node=str(spec.get("nodeName") or ""),
        phase=str(status.get("phase") or "Pending"),
        terminating=bool(metadata.get("deletionTimestamp")),
        group=memberships.group_of(obj) if isinstance(request, Rejection) else request.group,
        fit=fit,
        request=request,
        neighbour=Neighbour.of(obj),
        plan={name: held for name, held in plan.items() if name not in told},
        truth=told,
        drifted=any(_differ(plan[name], told[name]) for name in plan.keys() & told.keys()),
        version=version(obj),
        priority=int(spec.get("priority") or 0),
        nominated=str(status.get("nominatedNodeName") or ""),
        preempts=spec.get("preemptionPolicy") != "Never",
        gated=bool(spec.get("schedulingGates")),
        spared=marks.get(vocabulary.PREEMPTIBLE) == "false",
        started=str(status.get("startTime") or ""),
        grace_seconds=int(spec.get("terminationGracePeriodSeconds") or 0),
    )


def _differ(planned: Mapping[str, tuple[str, ...]], given: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether these are other devices, in whatever order."""
    return planned != given and ids({"": planned}) != ids({"": given})
