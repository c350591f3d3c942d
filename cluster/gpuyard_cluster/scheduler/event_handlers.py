"""What is heard of the cluster, put where the scheduler looks: waiting pods into the queue, all else into the cache.

Stands for kube-scheduler's event handlers.
"""

from collections.abc import Iterable
from typing import Final

from gpuyard.writes import JSON
from gpuyard_cluster.scheduler.budgets import Budget
from gpuyard_cluster.scheduler.cache import ClusterCache
from gpuyard_cluster.scheduler.pods import PodInfo
from gpuyard_cluster.scheduler.queue import SchedulingQueue

RESOURCES: Final = {
    "pods": "/api/v1/pods",
    "nodes": "/api/v1/nodes",
    "poddisruptionbudgets": "/apis/policy/v1/poddisruptionbudgets",
}


class EventHandlers:
    """Keeps a queue, a cache and disruption budgets up to date."""

    def __init__(self, queue: SchedulingQueue, cache: ClusterCache) -> None:
        self._queue, self._cache = queue, cache
        self.budgets: dict[str, Budget] = {}
        self._unseen = set(RESOURCES)

    @property
    def synced(self) -> bool:
        """Whether everything has been listed once."""
        return not self._unseen

    def replace(self, resource: str, objects: Iterable[JSON]) -> None:
        """All objects of a resource as of now."""
        if resource == "pods":
            self._replace_pods(list(objects))
        elif resource == "nodes":
            self._replace_nodes(list(objects))
        else:
            self.budgets.clear()
            for obj in objects:
                self.observe(resource, "ADDED", obj)
        self._unseen.discard(resource)

    def observe(self, resource: str, event: str, obj: JSON) -> None:
        """One change of an object."""
        if resource == "pods":
            pod = PodInfo.of(obj)
            if event == "DELETED":
                self._gone(pod.uid)
            else:
                self._pod(pod)
        elif resource == "nodes":
            self._node(event, obj)
        elif event == "DELETED":
            self.budgets.pop(obj["metadata"]["uid"], None)
        else:
            self.budgets[obj["metadata"]["uid"]] = Budget.of(obj)

    def _replace_pods(self, pods: list[JSON]) -> None:
        infos = [PodInfo.of(pod) for pod in pods]
        present = {pod.uid for pod in infos}
        for uid in {*self._queue.uids(), *self._cache.booked} - present:
            self._gone(uid)
        for pod in infos:
            self._pod(pod)

    def _replace_nodes(self, nodes: list[JSON]) -> None:
        present = {node["metadata"]["name"] for node in nodes}
        for name in set(self._cache.names) - present:
            self._cache.remove_node(name)
            self._queue.wake()
        for node in nodes:
            self._node("MODIFIED", node)

    def _node(self, event: str, node: JSON) -> None:
        if event == "DELETED":
            woken = self._cache.remove_node(node["metadata"]["name"])
        else:
            woken = self._cache.set_node(node)
        if woken:
            self._queue.wake()

    def _pod(self, pod: PodInfo) -> None:
        if pod.ended:
            self._gone(pod.uid)
        elif pod.node:
            self._queue.remove(pod.uid)
            self._cache.assign(pod)
            self._queue.wake()
        elif not pod.pending:
            self._gone(pod.uid)
        elif not self._cache.assigned(pod.uid):
            self._queue.update(pod)
            self._cache.nominate(pod)

    def _gone(self, uid: str) -> None:
        self._queue.remove(uid)
        self._cache.nominator.withdraw(uid)
        if self._cache.release(uid):
            self._queue.wake()
