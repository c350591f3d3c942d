"""Why a pod cannot run somewhere: the closed list of reason codes, and rejections as data.

A rejection is made once, in the domain. The scheduler shows only the constant `text` of its code: a text that
varies makes kube-scheduler rewrite the pod's condition, which wakes the pod, hundreds of times a second.
Numbers and names are for `explain`, PodGroup conditions and people.
"""

import enum
from dataclasses import dataclass


class Reason(enum.StrEnum):
    """Every reason code there is."""

    INSUFFICIENT_GPUS = "InsufficientGPUs"
    SHARES_EXHAUSTED = "SharesExhausted"
    NO_MIG_PLACEMENT = "NoMIGPlacement"
    TOPOLOGY_UNSATISFIED = "TopologyUnsatisfied"
    GPU_MODEL_MISMATCH = "GPUModelMismatch"
    GPU_MEMORY_TOO_SMALL = "GPUMemoryTooSmall"
    GPU_UNHEALTHY = "GPUUnhealthy"
    NO_SUCH_RESOURCE = "NoSuchResource"
    INVALID_REQUEST = "InvalidRequest"
    INSUFFICIENT_RESOURCES = "InsufficientResources"
    TAINT_NOT_TOLERATED = "TaintNotTolerated"
    NODE_AFFINITY_MISMATCH = "NodeAffinityMismatch"
    NODE_NOT_READY = "NodeNotReady"
    GANG_WAITING = "GangWaiting"
    GANG_UNPLACEABLE = "GangUnplaceable"
    GANG_ENDED = "GangEnded"
    RESERVATION_MISSING = "ReservationMissing"
    QUOTA_EXCEEDED = "QuotaExceeded"
    QUEUED_BEHIND = "QueuedBehind"
    NO_SUCH_QUEUE = "NoSuchQueue"
    LEADER_UNAVAILABLE = "LeaderUnavailable"

    @property
    def text(self) -> str:
        """The constant sentence for this code: no number, no name, never from attempt to attempt another."""
        return f"{self.value}: {_TEXTS[self]}"

    @property
    def change(self) -> str:
        """What would have to change, for people."""
        return _CHANGES[self]


_TEXTS = {
    Reason.INSUFFICIENT_GPUS: "not enough free GPUs",
    Reason.SHARES_EXHAUSTED: "no free share of a GPU",
    Reason.NO_MIG_PLACEMENT: "no free MIG instance or legal placement",
    Reason.TOPOLOGY_UNSATISFIED: "free GPUs do not meet the topology wish",
    Reason.GPU_MODEL_MISMATCH: "GPUs of another model",
    Reason.GPU_MEMORY_TOO_SMALL: "GPUs with too little memory",
    Reason.GPU_UNHEALTHY: "the GPUs left are unhealthy",
    Reason.NO_SUCH_RESOURCE: "the node does not offer the resource",
    Reason.INVALID_REQUEST: "the pod's GPU request cannot be understood",
    Reason.INSUFFICIENT_RESOURCES: "not enough CPU, memory or pods",
    Reason.TAINT_NOT_TOLERATED: "a taint is not tolerated",
    Reason.NODE_AFFINITY_MISMATCH: "node selector or affinity does not match",
    Reason.NODE_NOT_READY: "the node is not ready or is cordoned",
    Reason.GANG_WAITING: "members of the pod group are missing",
    Reason.GANG_UNPLACEABLE: "the pod group does not fit as a whole",
    Reason.GANG_ENDED: "the pod group has failed, and nobody of it starts any more",
    Reason.RESERVATION_MISSING: "the pod group holds no reservation here",
    Reason.QUOTA_EXCEEDED: "the queue's quota is used up",
    Reason.QUEUED_BEHIND: "earlier work in the queue goes first",
    Reason.NO_SUCH_QUEUE: "the queue that the pod group names does not exist",
    Reason.LEADER_UNAVAILABLE: "no active extender is known",
}


_CHANGES = {
    Reason.INSUFFICIENT_GPUS: "GPUs have to become free, or the pod asks for fewer",
    Reason.SHARES_EXHAUSTED: "a share has to become free, or the node's plugin offers more of each GPU",
    Reason.NO_MIG_PLACEMENT: "an instance has to become free, or the pod asks for a smaller profile",
    Reason.TOPOLOGY_UNSATISFIED: "GPUs of one domain have to become free, or the topology is only preferred",
    Reason.GPU_MODEL_MISMATCH: "the pod has to wish for another model, or a node with this one joins",
    Reason.GPU_MEMORY_TOO_SMALL: "the pod has to do with less memory, or a node with more joins",
    Reason.GPU_UNHEALTHY: "the GPU has to recover: see its XID in the node's annotations",
    Reason.NO_SUCH_RESOURCE: "the pod has to ask for a resource that the node's plugin offers",
    Reason.INVALID_REQUEST: "the pod has to be made anew without this fault",
    Reason.INSUFFICIENT_RESOURCES: "CPU, memory or pods have to become free, or the pod asks for less",
    Reason.TAINT_NOT_TOLERATED: "the pod needs a toleration, or the node loses its taint",
    Reason.NODE_AFFINITY_MISMATCH: "the pod's selector or affinity, or the node's labels",
    Reason.NODE_NOT_READY: "the node has to become ready, or be uncordoned",
    Reason.GANG_WAITING: "the missing members of its pod group have to be there",
    Reason.GANG_UNPLACEABLE: "room for all members at one time, or a smaller minMember",
    Reason.GANG_ENDED: "the pod group has to be made anew, or loses the annotation that ended it",
    Reason.RESERVATION_MISSING: "nothing: the operator is about to reserve a place; see its log if it does not",
    Reason.QUOTA_EXCEEDED: "work of the queue has to end, or its quota is raised",
    Reason.QUEUED_BEHIND: "the work before it has to start or go",
    Reason.NO_SUCH_QUEUE: "the Queue has to be made, or the pod group names another one",
    Reason.LEADER_UNAVAILABLE: "an extender has to run: see its pods in gpuyard-system",
}


SCHEDULED = "Scheduled"
"""The condition of a pod group by which the operator tells all others whether and why it does not run."""
EXPIRED, RELEASED = "DeadlineExceeded", "GangReleased"
"""How a pod group ended, as that condition's reason; its pods are rejected with GangEnded."""
WITHHELD = {
    **{code.value: code for code in (Reason.QUOTA_EXCEEDED, Reason.QUEUED_BEHIND, Reason.NO_SUCH_QUEUE)},
    **dict.fromkeys((EXPIRED, RELEASED), Reason.GANG_ENDED),
}
"""The reasons of that condition for which a group may not start, whatever room there is, as codes for its pods."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why one pod does not go on one node. `node` is empty where no node in particular is meant."""

    node: str
    reason: Reason
    detail: str = ""
    """The numbers, for people: "needs 4 GPUs, 2 free of 8"."""
