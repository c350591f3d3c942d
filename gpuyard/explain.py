"""Why a pod is not running, node by node: the answer for people, which kube-scheduler never has to ask for.

Stands for the FailedScheduling event, with codes and numbers and for nodes that kube-scheduler ruled out by itself.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gpuyard import placement
from gpuyard.cluster import Cluster
from gpuyard.fit import PodFit
from gpuyard.requests import PodRequest
from gpuyard.verdicts import Reason, Rejection


@dataclass(frozen=True, slots=True)
class PodVerdict:
    """`code` says in one word why pod `pod` waits (None: some node would do); `rejections` say it by node."""

    pod: str
    code: Reason | None
    rejections: tuple[Rejection, ...]


def explain(pod: PodFit, request: PodRequest, cluster: Cluster) -> tuple[Rejection, ...]:
    """Why each node does not do, by node name; nodes that would do are left out."""
    verdicts = (placement.judge(pod, request, node) for _, node in sorted(cluster.nodes.items()))
    return tuple(verdict for verdict in verdicts if isinstance(verdict, Rejection))


def verdict(pod: str, rejections: Sequence[Rejection], nodes: int) -> PodVerdict:
    """The verdict for a pod that `rejections` keep off so many of `nodes` nodes.

    The code is the commonest one, of equally common ones the first in the list of codes.
    """
    counts = Counter(rejection.reason for rejection in rejections)
    codes = list(Reason)
    ordered = sorted(counts, key=lambda code: (-counts[code], codes.index(code)))
    waits = bool(ordered) and len(rejections) >= nodes
    return PodVerdict(pod, ordered[0] if waits else None, tuple(rejections))
