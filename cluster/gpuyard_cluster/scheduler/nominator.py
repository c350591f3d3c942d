"""Promises: which node a waiting pod shall get once there is room for it.

Stands for kube-scheduler's nominator. A promise counts from when it is made, which is before the API server shows it,
until the pod is booked.
"""

from collections.abc import Collection

from gpuyard_cluster.scheduler.pods import PodInfo


class Nominator:
    """The waiting pods that have a nominated node, by node and by UID."""

    def __init__(self) -> None:
        self._pods: dict[str, dict[str, PodInfo]] = {}
        self._nodes: dict[str, str] = {}

    def __len__(self) -> int:
        """How many promises there are."""
        return len(self._nodes)

    def node_of(self, uid: str) -> str:
        """The node promised to a pod; empty for none."""
        return self._nodes.get(uid, "")

    def on(self, node: str) -> Collection[PodInfo]:
        """The pods that were promised the node."""
        return self._pods.get(node, {}).values()

    def nominate(self, pod: PodInfo, node: str = "") -> None:
        """Promise `node`, or else what the pod's status says, instead of an older promise.

        A version of the pod from before the promise was written does not end it.
        """
        node = node or pod.nominated or self._not_yet_written(pod.uid)
        self.withdraw(pod.uid)
        if node:
            self._nodes[pod.uid] = node
            self._pods.setdefault(node, {})[pod.uid] = pod

    def withdraw(self, uid: str) -> None:
        """Take back what was promised to a pod."""
        node = self._nodes.pop(uid, None)
        if node is not None:
            del self._pods[node][uid]

    def _not_yet_written(self, uid: str) -> str:
        node = self.node_of(uid)
        return node if node and not self._pods[node][uid].nominated else ""
