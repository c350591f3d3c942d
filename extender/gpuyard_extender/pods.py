"""A pod as the extender sees it.

Stands for the scheduler's PodInfo. Which devices a pod holds is known from three sources: its own status (what the
kubelet gave), its plan (what the extender wrote into the Binding), nothing. Status beats plan, container by
container.
"""

from dataclasses import dataclass

from gpuyard import annotations, memberships, requests, vocabulary
from gpuyard.accounts import truth
from gpuyard.annotations import Allocation, ids
from gpuyard.fit import PodFit
from gpuyard.requests import PodRequest
from gpuyard.verdicts import Rejection
from gpuyard.writes import JSON


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
    plan: Allocation
    truth: Allocation
    drifted: bool = False
    """Whether the kubelet gave other devices than were planned."""

    @property
    def ended(self) -> bool:
        """Whether its containers have ended for good; a terminating pod's have not."""
        return self.phase in ("Succeeded", "Failed")

    @property
    def pending(self) -> bool:
        """Whether it waits for a node."""
        return not (self.node or self.ended or self.terminating)

    @property
    def wants_gpus(self) -> bool:
        return isinstance(self.request, Rejection) or self.request.has_gpus

    @property
    def unplanned(self) -> bool:
        """Whether it has GPUs that nobody has named, or not so that it can be read: counted, but not known."""
        return bool(self.node) and not self.ended and self.wants_gpus and not (self.plan or self.truth)


def read(obj: JSON) -> Pod | None:
    """The pod in an API object; None when the object cannot be used."""
    try:
        return _read(obj)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def _read(obj: JSON) -> Pod:
    metadata, status = obj["metadata"], obj.get("status") or {}
    marks = metadata.get("annotations") or {}
    told = truth(obj)
    plan = annotations.read_allocation(marks.get(vocabulary.ALLOCATION)) or {}
    return Pod(
        uid=str(metadata["uid"]),
        namespace=str(metadata["namespace"]),
        name=str(metadata["name"]),
        node=str(obj["spec"].get("nodeName") or ""),
        phase=str(status.get("phase") or "Pending"),
        terminating=bool(metadata.get("deletionTimestamp")),
        group=memberships.group_of(obj),
        fit=PodFit.of(obj),
        request=requests.parse(obj),
        plan={name: held for name, held in plan.items() if name not in told},
        truth=told,
        drifted=any(ids({name: plan[name]}) != ids({name: told[name]}) for name in plan.keys() & told.keys()),
    )
