"""A cluster on which pods are placed one after the other, as a trial that can be taken back.

Stands for the snapshot on which kube-scheduler's PodGroup cycle assumes pods. Laws: each place is the one that
judging and scoring every node anew would give; a node is judged again only once a pod was placed on it or taken back.
"""

from collections.abc import Iterator

import numpy as np

from gpuyard.placing import placement
from gpuyard.placing.cluster import Cluster, Node, Placement
from gpuyard.placing.fleet import Fleet
from gpuyard.placing.views import Views
from gpuyard.pods.fit import PodFit
from gpuyard.pods.requests import PodRequest
from gpuyard.policies.candidates import Policy, best
from gpuyard.policies.workload import Column
from gpuyard.verdicts import Rejection


class Trial:
    """All nodes, with what was placed on them."""

    def __init__(self, cluster: Cluster) -> None:
        self._fleet = Fleet.of(cluster)
        self._views = Views(self._fleet)
        # In the order of names, which decides between equals.
        self._rows = self._fleet.find(sorted(cluster.nodes))
        self._touched: list[str] = []
        self._before: list[Node] = []
        """The node that each placement changed, as it was."""

    @property
    def placed(self) -> int:
        """How many placements there are."""
        return len(self._before)

    def cluster(self) -> Cluster:
        """The cluster as it is now."""
        return Cluster({node.name: node for node in self._nodes()})

    def place(self, pod: PodFit, request: PodRequest, policy: Policy) -> Placement | None:
        """The pod on the node that `policy` likes best; None where it fits nowhere."""
        view = self._views.of(pod, request)
        view.refresh(len(self._touched), lambda change: set(self._touched[change:]))
        answers = view.answers(self._rows, pod.requests)
        passing = answers.passing()
        if not len(passing):
            return None
        found = answers.candidacy(passing, pod.requests, request.uid, self._fleet)
        chosen = passing[_first(best(policy(found.candidates)), found.preferences)]
        return self._take(self._fleet.nodes[self._rows[chosen]], pod, request)

    def rejections(self, pod: PodFit, request: PodRequest) -> tuple[Rejection, ...]:
        """Why nodes do not do, with the numbers."""
        verdicts = (placement.judge(pod, request, node) for node in self._nodes())
        return tuple(found for found in verdicts if isinstance(found, Rejection))

    def put(self, node: Node) -> None:
        """A node as it is from now on; counts as a placement."""
        self._before.append(self._fleet.nodes[self._fleet.rows[node.name]])
        self._put(node)

    def take_back(self, placed: int) -> None:
        """All but the first `placed` placements."""
        earliest = {node.name: node for node in reversed(self._before[placed:])}
        del self._before[placed:]
        for node in earliest.values():
            self._put(node)

    def _nodes(self) -> Iterator[Node]:
        return (self._fleet.nodes[row] for row in self._rows.tolist())

    def _take(self, node: Node, pod: PodFit, request: PodRequest) -> Placement:
        found = placement.judge(pod, request, node)
        assert isinstance(found, Placement), found
        self.put(node.taking(found))
        return found

    def _put(self, node: Node) -> None:
        self._fleet.put(node)
        self._touched.append(node.name)


def _first(scores: Column, preferences: Column) -> int:
    """The place that `scoring.best_first` puts first, without the order of all others."""
    liked = np.flatnonzero(preferences == preferences.max())
    return int(liked[scores[liked].argmax()])
