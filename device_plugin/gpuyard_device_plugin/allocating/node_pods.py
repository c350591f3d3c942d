"""The pods of one node: what each wants, what was planned for it, and what its status says that it got.

Stands for what the kubelet's device manager knows of a pod, read from the API. Truth beats plan (contracts 2 and 3):
the plan is the annotation gpuyard.io/allocation, the truth is `allocatedResourcesStatus` of the app containers.
"""

from dataclasses import dataclass, field

from gpuyard import annotations, vocabulary
from gpuyard.annotations import Allocation
from gpuyard.auditing.accounts import truth
from gpuyard.pods import limits
from gpuyard.pods.limits import Limits
from gpuyard.pods.phases import has_ended
from gpuyard.pods.requests import PodRequest, Want, parse
from gpuyard.writes import JSON


@dataclass(frozen=True, slots=True)
class NodePod:
    """One pod. `wants` are in the order in which the kubelet serves them."""

    uid: str
    namespace: str
    name: str
    wants: tuple[Want, ...] = ()
    limits: Limits = limits.NONE
    """How much of its GPU its share may use."""
    plan: Allocation = field(default_factory=dict)
    truth: Allocation = field(default_factory=dict)
    admitted: bool = False
    """The kubelet has taken the pod in: all its containers have their devices."""
    ended: bool = False
    """Succeeded or Failed: the kubelet has taken the devices back."""

    @property
    def path(self) -> str:
        return path(self.namespace, self.name)

    @property
    def label(self) -> str:
        """namespace/name, for people."""
        return f"{self.namespace}/{self.name}"


def path(namespace: str, name: str) -> str:
    return f"/api/v1/namespaces/{namespace}/pods/{name}"


def read(pod: JSON) -> NodePod | None:
    """The pod of a Pod object; None for an object that is none. A request that makes no sense wants nothing."""
    try:
        return _read(pod)
    except (AttributeError, TypeError, KeyError):
        return None


def _read(pod: JSON) -> NodePod:
    metadata, status = pod["metadata"], pod.get("status") or {}
    request = parse(pod)
    phase = status.get("phase")
    started = status.get("containerStatuses") or status.get("initContainerStatuses")
    notes = metadata.get("annotations") or {}
    return NodePod(
        uid=str(metadata["uid"]),
        namespace=str(metadata.get("namespace") or "default"),
        name=str(metadata["name"]),
        wants=request.wants if isinstance(request, PodRequest) else (),
        limits=request.wishes.limits if isinstance(request, PodRequest) else limits.NONE,
        plan=annotations.read_allocation(notes.get(vocabulary.ALLOCATION)) or {},
        truth=truth(pod),
        admitted=bool(started) or phase == "Running",
        ended=has_ended(pod),
    )
