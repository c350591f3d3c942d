"""The pods of one node: what the API server says of them, and what the node remembers.

Stands for the kubelet's pod manager. What was started is on disk; refusals are only in memory: a kubelet that forgets
one judges the pod anew.
"""

from collections.abc import Callable, Iterable

from gpuyard.pods.phases import has_ended
from gpuyard.writes import JSON
from gpuyard_cluster.kubelet import checkpoint
from gpuyard_cluster.kubelet.admission import Refusal
from gpuyard_cluster.kubelet.checkpoint import Disk, Started
from gpuyard_cluster.kubelet.pod_lifecycle import PodRecord, deleting
from gpuyard_cluster.logs import NoLogsError


class NodePods:
    """By UID."""

    def __init__(self, node: str, disk: Disk, report: Callable[[str], None]) -> None:
        self._node, self._disk = node, disk
        self._pods: dict[str, JSON] = {}
        self._refused: dict[str, Refusal] = {}
        self._admitting: str | None = None
        self._listed = False
        try:
            self._started = checkpoint.read_containers(disk)
        except checkpoint.UnusableCheckpointError as error:
            report(f"list of containers ignored: {error}")
            self._started = {}

    def replace(self, pods: Iterable[JSON]) -> list[str]:
        """All pods of the cluster as of now; the UIDs of this node's, in the order of their creation."""
        mine = [pod for pod in pods if self._is_here(pod)]
        mine.sort(key=lambda pod: str(pod["metadata"].get("creationTimestamp")))
        self._pods = {pod["metadata"]["uid"]: pod for pod in mine}
        self._listed = True
        self._forget_gone()
        return list(self._pods)

    def observe(self, event: str, pod: JSON) -> bool:
        """One change of a pod; whether it is on this node."""
        if not self._is_here(pod):
            return False
        if event == "DELETED":
            self._pods.pop(pod["metadata"]["uid"], None)
            self._forget_gone()
        else:
            self._pods[pod["metadata"]["uid"]] = pod
        return True

    def get(self, uid: str) -> JSON | None:
        return self._pods.get(uid)

    def record(self, uid: str) -> PodRecord:
        return PodRecord(self._started.get(uid), self._refused.get(uid))

    def admitting(self, uid: str) -> bool:
        """Whether this is the pod in hand."""
        return self._admitting == uid

    def next_to_admit(self) -> JSON | None:
        """The next pod to judge, which is in hand from now on; None as long as there is none."""
        self._admitting = next((uid for uid, pod in self._pods.items() if self._waits(uid, pod)), None)
        return self._pods[self._admitting] if self._admitting else None

    def start(self, uid: str, started: Started) -> None:
        """The pod is admitted, and its containers run or wait for their devices; no longer is it in hand."""
        self._admitting = None if self._admitting == uid else self._admitting
        if uid in self._pods:
            self._started[uid] = started
            checkpoint.write_containers(self._disk, self._started)

    def refuse(self, uid: str, refusal: Refusal) -> None:
        """The pod in hand is not admitted."""
        self._admitting = None
        if uid in self._pods:
            self._refused[uid] = refusal

    def waiting(self) -> list[str]:
        """The UIDs of admitted pods whose containers do not run yet."""
        return [uid for uid, found in self._started.items() if found.waits is not None]

    def admitted(self) -> list[JSON]:
        """The pods that run."""
        return [pod for uid, pod in self._pods.items() if uid in self._started and not has_ended(pod)]

    def active(self) -> list[JSON]:
        """The pods that run, and last the one in hand."""
        in_hand = self._pods.get(self._admitting or "")
        return [*self.admitted(), *([in_hand] if in_hand else [])]

    def holders(self) -> set[str] | None:
        """The UIDs that may hold devices; None as long as it is not known which pods there are."""
        if not self._listed:
            return None
        alive = {uid for uid, pod in self._pods.items() if not has_ended(pod) and uid not in self._refused}
        return alive | ({self._admitting} if self._admitting else set())

    def find(self, namespace: str, name: str) -> tuple[JSON, Started]:
        """A pod whose containers were started. NoLogsError."""
        for uid, pod in self._pods.items():
            if (pod["metadata"]["namespace"], pod["metadata"]["name"]) == (namespace, name):
                if uid in self._started and uid not in self.waiting():
                    return pod, self._started[uid]
                raise NoLogsError(f'pod "{name}" is waiting to start')
        raise NoLogsError(f'pods "{name}" not found on node {self._node}')

    def _is_here(self, pod: JSON) -> bool:
        return (pod.get("spec") or {}).get("nodeName") == self._node

    def _waits(self, uid: str, pod: JSON) -> bool:
        return not (uid in self._started or uid in self._refused or has_ended(pod) or deleting(pod))

    def _forget_gone(self) -> None:
        self._refused = {uid: found for uid, found in self._refused.items() if uid in self._pods}
        kept = {uid: found for uid, found in self._started.items() if uid in self._pods}
        if len(kept) < len(self._started):
            self._started = kept
            checkpoint.write_containers(self._disk, kept)
