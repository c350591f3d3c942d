"""Why a pod is not running, node by node: the answer for people, which kube-scheduler never has to ask for.

Stands for the FailedScheduling event, with codes and numbers and for nodes that kube-scheduler ruled out by itself.
"""

from gpuyard import placement
from gpuyard.cluster import Cluster
from gpuyard.fit import PodFit
from gpuyard.requests import PodRequest
from gpuyard.verdicts import Rejection


def explain(pod: PodFit, request: PodRequest, cluster: Cluster) -> tuple[Rejection, ...]:
    """Why each node does not do, by node name; nodes that would do are left out."""
    verdicts = (placement.judge(pod, request, node) for _, node in sorted(cluster.nodes.items()))
    return tuple(verdict for verdict in verdicts if isinstance(verdict, Rejection))
