"""Where the members of a gang can start, on the cluster as it is when they are asked about.

Stands for the snapshot of a PodGroup scheduling cycle. Laws: a search looks at nothing that changes, so that it may
run in another thread while verbs are answered; what it has found is good for as long as it `holds` in the ledger.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gpuyard.groups import gangs, racks
from gpuyard.groups.gangs import GangRejection
from gpuyard.groups.nearness import Nearness
from gpuyard.groups.reservations import Seat
from gpuyard.placing.cluster import Cluster, Node, Placement
from gpuyard.policies.candidates import Policy
from gpuyard.verdicts import Rejection
from gpuyard_extender import feasibility
from gpuyard_extender.groups import placeable
from gpuyard_extender.ledger import Ledger
from gpuyard_extender.pods import Pod


@dataclass(frozen=True, slots=True)
class Search:
    """For places for all `pods`, as if none of them held any yet; `change`: the ledger's count of changes then."""

    pods: Sequence[Pod]
    cluster: Cluster
    change: int
    siblings: frozenset[str]
    nearness: Nearness | None

    @classmethod
    def of(cls, pods: Sequence[Pod], ledger: Ledger, now: float, wish: Nearness | None) -> "Search":
        cluster = ledger.cluster(now, {pod.uid for pod in pods})
        return cls(pods, cluster, ledger.holdings.changes, siblings(pods, ledger), wish)

    def find(self, policy: Policy) -> "Found":
        """In any thread, if `policy` may be asked there."""
        return Found(self, self._places(policy))

    def _places(self, policy: Policy) -> tuple[Placement, ...] | GangRejection:
        for pod in self.pods:
            if isinstance(pod.request, Rejection):
                return GangRejection(pod.name, (pod.request,))
        members = placeable(self.pods)
        if self.nearness is None:
            return gangs.plan(members, self.cluster, policy)
        return racks.plan(members, self.cluster, policy, self.nearness, self.siblings)


@dataclass(frozen=True, slots=True)
class Found:
    """One place for each pod of a search, or why there are none."""

    search: Search
    places: tuple[Placement, ...] | GangRejection

    def holds(self, ledger: Ledger, now: float) -> bool:
        """Whether all places are still there, one beside the other. Where there are none: whether nothing changed."""
        ledger.expire(now)
        changed = ledger.holdings.changed_since(self.search.change)
        if isinstance(self.places, GangRejection):
            return not changed
        members, nodes = {pod.uid for pod in self.search.pods}, dict[str, Node | None]()
        for pod, place in zip(self.search.pods, self.places, strict=True):
            if place.node in changed:
                node = nodes.get(place.node) or ledger.node(place.node, now, members)
                seat = Seat(pod.uid, pod.name, place.node, place.allocation)
                verdict = feasibility.judge(pod, node, seat) if node else None
                if node is None or not isinstance(verdict, Placement):
                    return False
                nodes[place.node] = node.taking(verdict)
        return True


def siblings(pods: Sequence[Pod], ledger: Ledger) -> frozenset[str]:
    """The nodes of members of the same group that have their GPUs."""
    found = ledger.members(pods[0].namespace, pods[0].group or "")
    return frozenset(pod.node for pod in found if pod.node and pod.wants_gpus and not pod.ended)
