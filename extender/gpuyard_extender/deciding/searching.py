"""Where the members of a gang can start, on the cluster as it is when they are asked about.

Stands for the snapshot of a PodGroup scheduling cycle. Laws: a search looks at nothing that changes, so that it may
run in another thread while verbs are answered; what it has found is good for as long as it `holds` in the ledger.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gpuyard.groups import gangs, racks
from gpuyard.groups.gangs import GangRejection
from gpuyard.groups.nearness import Nearness
from gpuyard.groups.reservations import Seat
from gpuyard.placing.cluster import Cluster, Node, Placement
from gpuyard.policies.candidates import Policy
from gpuyard.verdicts import Rejection
from gpuyard_extender.deciding import feasibility
from gpuyard_extender.deciding.evicting import Room, Tenancy, choose_victims, expected, going
from gpuyard_extender.ledger.groups import placeable
from gpuyard_extender.ledger.ledger import Ledger
from gpuyard_extender.ledger.pods import Pod

_RACKS: Final = 3
"""In so many racks it is looked for who might have to go."""
_AGAIN: Final = 2
"""So often it is searched anew for one answer: in a large cluster there is always something that changes."""


@dataclass(frozen=True, slots=True)
class Search:
    """For places for all `pods`, as if none of them held any yet; `change`: the ledger's count of changes then."""

    pods: Sequence[Pod]
    cluster: Cluster
    change: int
    siblings: frozenset[str]
    nearness: Nearness | None
    tenancy: Tenancy | None = None
    """Who may have to go for them, where somebody may."""
    earlier: int = 0
    """So many searches for the same have found what was outdated then."""

    @classmethod
    def of(cls, pods: Sequence[Pod], ledger: Ledger, now: float, wish: Nearness | None) -> "Search":
        cluster = ledger.cluster(now, ledger.yielding(pods))
        return cls(pods, cluster, ledger.holdings.changes, _siblings(pods, ledger), wish)

    def at_others_expense(self, ledger: Ledger) -> "Search":
        """The same, if need be; at once, while the ledger is as it was."""
        return replace(self, tenancy=Tenancy.of(self.pods, self.cluster, ledger))

    @property
    def is_last(self) -> bool:
        return self.earlier >= _AGAIN

    def find(self, policy: Policy) -> "Found":
        """In any thread, if `policy` may be asked there."""
        places = self._places(policy)
        if self.tenancy is None or not isinstance(places, GangRejection):
            return Found(self, places)
        return Found(self, places, self._room(self.tenancy, policy))

    def _places(self, policy: Policy) -> tuple[Placement, ...] | GangRejection:
        for pod in self.pods:
            if isinstance(pod.request, Rejection):
                return GangRejection(pod.name, (pod.request,))
        members = placeable(self.pods)
        if self.nearness is None:
            return gangs.plan(members, self.cluster, policy)
        return racks.plan(members, self.cluster, policy, self.nearness, self.siblings)

    def _room(self, tenancy: Tenancy, policy: Policy) -> Room | None:
        """Where it must be in one rack, in one of those with the most room already."""
        wish = self.nearness
        if wish is None or not wish.required:
            return choose_victims(self.pods, self.cluster, tenancy, policy)
        found = racks.racks_of(placeable(self.pods), self.cluster, wish, self.siblings)
        for rack in found[: -_RACKS - 1 : -1]:
            confined = [replace(pod, fit=racks.within(pod.fit, wish, (rack.name,))) for pod in self.pods]
            room = choose_victims(confined, self.cluster, tenancy, policy)
            if room is not None:
                return room
        return None


@dataclass(frozen=True, slots=True)
class Found:
    """One place for each pod of a search, or why there are none, and at whose expense there would be `room`."""

    search: Search
    places: tuple[Placement, ...] | GangRejection
    room: Room | None = None

    def holds(self, ledger: Ledger, now: float) -> bool:
        """Whether all places are still there, one beside the other. Where there are none: whether nothing changed."""
        if isinstance(self.places, GangRejection):
            ledger.expire(now)
            return not ledger.holdings.changed_since(self.search.change)
        return self._are_there(self.places, (), ledger, now)

    def clears(self, room: Room, tenancy: Tenancy, ledger: Ledger, now: float) -> bool:
        """Whether its victims still make room, for the pods alone. Their budgets the API server keeps, in the end."""
        ledger.expire(now)
        pods = (ledger.pods.get(victim.uid) for victim in room.victims)
        if any(pod is not None and pod.spared and not pod.terminating for pod in pods):
            return False
        nominated = expected(self.search.pods, ledger)
        if any(nominated.get(place.node) != tenancy.nominated.get(place.node) for place in room.placements):
            return False
        gone = {*(victim.uid for victim in room.victims), *going(self.search.pods, ledger)}
        return self._are_there(room.placements, gone, ledger, now)

    def _are_there(
        self, places: Sequence[Placement], gone: Iterable[str], ledger: Ledger, now: float
    ) -> bool:
        """Without the pods that are `gone` (UIDs). Only nodes that have changed are looked at."""
        ledger.expire(now)
        changed, nodes = ledger.holdings.changed_since(self.search.change), dict[str, Node | None]()
        besides = {*ledger.yielding(self.search.pods), *gone}
        for pod, place in zip(self.search.pods, places, strict=True):
            if place.node in changed:
                node = nodes.get(place.node) or ledger.node(place.node, now, besides)
                seat = Seat(pod.uid, pod.name, place.node, place.allocation)
                verdict = feasibility.judge(pod, node, seat) if node else None
                if node is None or not isinstance(verdict, Placement):
                    return False
                nodes[place.node] = node.taking(verdict)
        return True


def _siblings(pods: Sequence[Pod], ledger: Ledger) -> frozenset[str]:
    """The nodes of members of the same group that have their GPUs."""
    found = ledger.members(pods[0].namespace, pods[0].group or "")
    return frozenset(pod.node for pod in found if pod.node and pod.wants_gpus and not pod.ended)
