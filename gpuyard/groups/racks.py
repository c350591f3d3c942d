"""Places for all members of a gang in one rack, or in as few as can be.

Stands for Kueue's topology-aware scheduling. Rules:
- Only members with GPUs are bound to a rack, by a term added to their node affinity; the others go anywhere.
- Of the racks that have enough GPUs free by count, the one with the fewest is tried first: large ones stay whole.
- A member that comes late goes to the rack of its siblings.
- Where one rack is only preferred, the freest two are tried together, then three, and so on.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gpuyard import vocabulary
from gpuyard.groups import gangs
from gpuyard.groups.gangs import GangRejection, Member
from gpuyard.groups.nearness import Nearness
from gpuyard.placing.cluster import Cluster, Node, Placement
from gpuyard.pods import fit
from gpuyard.pods.affinity import Requirement, Term
from gpuyard.pods.fit import Amounts, PodFit
from gpuyard.policies.candidates import Policy
from gpuyard.verdicts import Reason, Rejection

TRIES: Final = 8
"""So many racks are tried at most: where counts are enough, the first ones nearly always do."""


@dataclass(frozen=True, slots=True)
class Rack:
    """A domain by the value of its label, and what is not booked on its nodes, of the resources in question."""

    name: str
    left: Amounts

    @property
    def free(self) -> int:
        return sum(self.left.values())

    def has(self, needs: Amounts) -> bool:
        return all(self.left.get(resource, 0) >= count for resource, count in needs.items())


def plan(
    members: Sequence[Member],
    cluster: Cluster,
    policy: Policy,
    wish: Nearness,
    siblings: Collection[str] = (),
) -> tuple[Placement, ...] | GangRejection:
    """One placement for each member, as `gangs.plan`. `siblings` are the nodes of members placed before."""
    racks, needs = racks_of(members, cluster, wish, siblings), needed(members)
    for names in _choices(racks, needs, wish):
        found = gangs.plan([confined(member, wish, names) for member in members], cluster, policy)
        if not isinstance(found, GangRejection):
            return found
    if wish.required:
        return _in_best(members, cluster, policy, wish, racks)
    return gangs.plan(members, cluster, policy)


def racks_of(
    members: Sequence[Member], cluster: Cluster, wish: Nearness, siblings: Collection[str] = ()
) -> list[Rack]:
    """The racks that members may go to, the fullest first; with siblings a required one is theirs."""
    needs = needed(members)
    first = next((member for member in members if member.request.has_gpus), None)
    left: dict[str, Counter[str]] = {}
    for node in cluster.nodes.values():
        rack = node.fit.labels.get(wish.domain.label)
        if rack and first is not None and fit.misplaced(first.fit, node.fit) is None:
            left.setdefault(rack, Counter()).update(_left(node, needs))
    own = {
        cluster.nodes[name].fit.labels.get(wish.domain.label) for name in siblings if name in cluster.nodes
    }
    found = [
        Rack(name, counts) for name, counts in left.items() if not (wish.required and own) or name in own
    ]
    return sorted(found, key=lambda rack: (rack.name not in own, rack.free, rack.name))


def needed(members: Sequence[Member]) -> dict[str, int]:
    """The devices that all members ask for, by resource."""
    needs = Counter[str]()
    for member in members:
        needs.update(member.request.totals)
    return dict(needs)


def confined(member: Member, wish: Nearness, racks: Sequence[str]) -> Member:
    """The member, if it has GPUs, for nodes of these racks alone."""
    return replace(member, fit=within(member.fit, wish, racks)) if member.request.has_gpus else member


def within(pod: PodFit, wish: Nearness, racks: Sequence[str]) -> PodFit:
    """The pod, for nodes of these racks alone."""
    here = Requirement(wish.domain.label, "In", tuple(racks))
    if pod.affinity_terms is None:
        return replace(pod, affinity_terms=(Term((here,)),))
    # A term that says nothing matches no node, and must not come to match some.
    terms = (replace(term, labels=(*term.labels, here)) for term in pod.affinity_terms if term != Term())
    return replace(pod, affinity_terms=tuple(terms))


def _choices(racks: Sequence[Rack], needs: Amounts, wish: Nearness) -> Iterator[tuple[str, ...]]:
    """Sets of racks to try, one after the other."""
    able = [rack for rack in racks if rack.has(needs)]
    yield from ((rack.name,) for rack in able[:TRIES])
    if wish.required:
        return
    freest, tries = sorted(racks, key=lambda rack: (-rack.free, rack.name)), 0
    for count in range(2, len(freest) + 1):
        together = Counter[str]()
        for rack in freest[:count]:
            together.update(rack.left)
        if tries < TRIES and Rack("", together).has(needs):
            tries += 1
            yield tuple(rack.name for rack in freest[:count])


def _in_best(
    members: Sequence[Member], cluster: Cluster, policy: Policy, wish: Nearness, racks: Sequence[Rack]
) -> tuple[Placement, ...] | GangRejection:
    """In the rack that has most; else the first member without a node there, and the numbers."""
    best = max(racks, key=lambda rack: rack.free, default=Rack("", {}))
    found = gangs.plan([confined(member, wish, (best.name,)) for member in members], cluster, policy)
    if not isinstance(found, GangRejection):
        return found
    label, named = wish.domain.label, [(cluster.nodes.get(no.node), no) for no in found.rejections]
    own = [no for node, no in named if node is not None and node.fit.labels.get(label) == best.name]
    detail = _numbers(needed(members), wish, best)
    return GangRejection(found.member, (Rejection("", Reason.TOPOLOGY_UNSATISFIED, detail), *own))


def _numbers(needs: Amounts, wish: Nearness, best: Rack) -> str:
    if not best.name:
        return f"no node that would do has the label {wish.domain.label}"
    what, place = "GPUs" if list(needs) == [vocabulary.GPU] else "devices", wish.domain.place
    detail = f"needs {sum(needs.values())} {what} in one {place}, best {place} {best.name} has {best.free}"
    return f"{detail}, but not so that all members fit" if best.has(needs) else detail


def _left(node: Node, needs: Amounts) -> dict[str, int]:
    return {r: max(0, node.fit.allocatable.get(r, 0) - node.used.get(r, 0)) for r in needs}
