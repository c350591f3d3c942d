"""Room for pods that have to start together, at the expense of less important ones anywhere in the cluster.

Stands for the workload-aware preemption of kube-scheduler, with devices: `preemption` chooses, among all nodes.
Laws: all of the pods then fit, or nobody goes; no disruption budget is violated; the places are those that the pods
get once the victims are gone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from gpuyard.groups.gangs import Member
from gpuyard.placing.cluster import Cluster, Node, Placement
from gpuyard.placing.trials import Trial
from gpuyard.pods.fit import Amounts
from gpuyard.policies.candidates import Policy
from gpuyard.preempting import preemption
from gpuyard.preempting.capacity import Capacity
from gpuyard.preempting.preemption import SETS, Question
from gpuyard.preempting.stakes import Stakes, Unit, Units

_PLACES: Final = 1500
_FEWEST: Final = 16
"""So many places are tried for pods, and so many sets of victims at least: some tenths of a second for small gangs. A
choice among a thousand takes sixteen sets where counts do not decide; what is left makes it smaller."""


@dataclass(frozen=True, slots=True)
class AtStake:
    """Pods of which either all go or none, what else is lost with them, and the priority that they must be below."""

    priority: int
    units: Iterable[Unit]
    stakes: Stakes


@dataclass(frozen=True, slots=True)
class Room:
    """The places of the pods, in their order, once the pods with these UIDs are gone."""

    placements: tuple[Placement, ...]
    victims: tuple[str, ...]


def make_room(members: Sequence[Member], cluster: Cluster, policy: Policy, at_stake: AtStake) -> Room | None:
    """The places of all members; None where not even all that are less important would be enough."""
    clearing, capacity = _Clearing(members, cluster, policy), Capacity.of(members, cluster)
    placed = clearing.place(()) if capacity.suffices(()) else None
    if placed is not None:
        return Room(placed, ())
    hopeful = capacity.nodes
    units = [unit for unit in at_stake.units if any(pod.placement.node in hopeful for pod in unit)]
    asked = Question(
        at_stake.priority,
        clearing.needed,
        capacity,
        keeps_budgets=True,
        tries=max(_FEWEST, min(2 * SETS, _PLACES // len(members))),
    )
    found = preemption.cheapest(asked, units, at_stake.stakes)
    if found is None:
        return None
    gone = [unit for unit in units if any(pod.placement.uid in found.uids for pod in unit)]
    placed = clearing.place(gone)
    if placed is None:
        return None
    # Where the tries are used up, some of these are not in the way of the places.
    leaving = {pod.placement.uid for pod in chain(*clearing.in_the_way(placed, gone))}
    return Room(placed, tuple(uid for uid in found.uids if uid in leaving))


class _Clearing:
    """The cluster, in which pods are taken away as a trial; from one to the next only what differs is changed."""

    def __init__(self, members: Sequence[Member], cluster: Cluster, policy: Policy) -> None:
        self._members, self._cluster, self._policy = members, cluster, policy
        self._trial = Trial(cluster)
        self._gone: dict[str, tuple[Placement, ...]] = {}
        self._nodes: dict[str, Node] = {}
        """The nodes that somebody is gone from."""

    def place(self, gone: Units) -> tuple[Placement, ...] | None:
        """Where the members go without these pods."""
        self._take_away(gone)
        before, found = self._trial.placed, list[Placement]()
        for member in self._members:
            placed = self._trial.place(member.fit, member.request, self._policy)
            if placed is None:
                break
            found.append(placed)
        self._trial.take_back(before)
        return tuple(found) if len(found) == len(self._members) else None

    def needed(self, gone: Units) -> Units | None:
        """Which of them are in the way of the places that the members get without them all."""
        placed = self.place(gone)
        return None if placed is None else self.in_the_way(placed, gone)

    def in_the_way(self, placed: Sequence[Placement], gone: Units) -> Units:
        """Which of those whom these places were just found without."""
        nodes = dict(self._nodes)
        for found in placed:
            nodes[found.node] = nodes.get(found.node, self._cluster.nodes[found.node]).taking(found)
        return [unit for unit in reversed(gone) if not _stays(unit, nodes)][::-1]

    def _take_away(self, gone: Units) -> None:
        leaving: dict[str, tuple[Placement, ...]] = {}
        for found in chain(*gone):
            leaving[found.placement.node] = (*leaving.get(found.placement.node, ()), found.placement)
        for name in self._gone.keys() | leaving.keys():
            if self._gone.get(name) != leaving.get(name):
                node = self._cluster.nodes[name].releasing(*leaving.get(name, ()))
                self._trial.put(node)
                self._nodes[name] = node
        self._gone = leaving


def _stays(unit: Unit, nodes: dict[str, Node]) -> bool:
    """Whether the unit can be where it was; then it is there again."""
    back: dict[str, Node] = {}
    for found in unit:
        node = back.get(found.placement.node, nodes[found.placement.node])
        if not _has_room(node, found.placement):
            return False
        back[node.name] = node.taking(found.placement)
    nodes.update(back)
    return True


def _has_room(node: Node, placement: Placement) -> bool:
    devices = node.inventory.devices() if node.inventory else ()
    idle = {devices[number].id for number in node.occupancy.idle} if node.occupancy else set[str]()
    taken = {device.id for device in devices} - idle
    return taken.isdisjoint(placement.ids) and not _over(node.used, placement.requests, node.fit.allocatable)


def _over(used: Amounts, wanted: Amounts, offered: Amounts) -> bool:
    return any(used.get(name, 0) + amount > offered.get(name, 0) for name, amount in wanted.items())
