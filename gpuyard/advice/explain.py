"""Why a pod is not running, node by node: the answer for people, which kube-scheduler never has to ask for.

Stands for the FailedScheduling event, with codes and numbers and for nodes that kube-scheduler ruled out by itself.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from gpuyard.placing import placement
from gpuyard.placing.cluster import Cluster
from gpuyard.pods.fit import PodFit
from gpuyard.pods.requests import PodRequest
from gpuyard.verdicts import Reason, Rejection

CLOSEST: Final = (
    # The node has the right devices, but not now.
    Reason.SHARES_EXHAUSTED,
    Reason.NO_MIG_PLACEMENT,
    Reason.TOPOLOGY_UNSATISFIED,
    Reason.INSUFFICIENT_GPUS,
    Reason.GPU_UNHEALTHY,
    Reason.INSUFFICIENT_RESOURCES,
    # It has GPUs, but of another kind.
    Reason.GPU_MEMORY_TOO_SMALL,
    Reason.GPU_MODEL_MISMATCH,
    Reason.INVALID_REQUEST,
    # It is not meant for this pod.
    Reason.NODE_NOT_READY,
    Reason.TAINT_NOT_TOLERATED,
    Reason.NODE_AFFINITY_MISMATCH,
    Reason.RESERVATION_MISSING,
    Reason.NO_SUCH_RESOURCE,
)
"""The reasons of nodes, those first that leave the least to change."""


@dataclass(frozen=True, slots=True)
class Alike:
    """The nodes that say no for one reason; `details`: how many say what, the most frequent first."""

    reason: Reason
    nodes: tuple[str, ...]
    details: tuple[tuple[str, int], ...]


def explain(pod: PodFit, request: PodRequest, cluster: Cluster) -> tuple[Rejection, ...]:
    """Why each node does not do, by node name; nodes that would do are left out."""
    verdicts = (placement.judge(pod, request, node) for _, node in sorted(cluster.nodes.items()))
    return tuple(verdict for verdict in verdicts if isinstance(verdict, Rejection))


def closest(reasons: Iterable[Reason]) -> Reason:
    """The code that sums them up: of what has to change first. NodeNotReady where there is no node."""
    found = set(reasons)
    return next((code for code in CLOSEST if code in found), Reason.NODE_NOT_READY)


def alike(rejections: Iterable[Rejection]) -> tuple[Alike, ...]:
    """The rejections by reason, the closest first: a thousand nodes in a few lines."""
    by_reason: dict[Reason, list[Rejection]] = {}
    for rejection in rejections:
        by_reason.setdefault(rejection.reason, []).append(rejection)
    order = (*CLOSEST, *(reason for reason in Reason if reason not in CLOSEST))
    return tuple(_alike(reason, by_reason[reason]) for reason in order if reason in by_reason)


def _alike(reason: Reason, found: list[Rejection]) -> Alike:
    details = Counter(rejection.detail for rejection in found)
    return Alike(reason, tuple(rejection.node for rejection in found), tuple(details.most_common()))
