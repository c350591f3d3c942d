"""Where pods would go that nobody has created: the planner of gangs, over a snapshot that is then thrown away.

Stands for the cluster autoscaler's scheduling simulation. Laws: places are those that `gangs.plan` and
`racks.plan` give, so the answer is what a plan would be; nothing but the arguments is read, and nothing is changed.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

from gpuyard.groups import gangs, racks
from gpuyard.groups.gangs import GangRejection, Member
from gpuyard.groups.nearness import Nearness
from gpuyard.placing.cluster import Cluster, Placement
from gpuyard.placing.trials import Trial
from gpuyard.policies.candidates import Policy


@dataclass(frozen=True, slots=True)
class Unit:
    """Members that start `together` or not at all, or each for itself."""

    name: str
    members: tuple[Member, ...]
    together: bool
    nearness: Nearness | None = None
    late: bool = False
    """Whether the members of the unit before are siblings of these, too."""
    siblings: tuple[str, ...] = ()
    """The nodes of those beside whom these are to be."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What becomes of a unit. Of members that start together all are placed, or none."""

    unit: Unit
    placements: tuple[Placement, ...]
    before: Cluster
    after: Cluster
    failed: tuple[Member, ...] = ()
    """Those without a place, the first of which met `rejection`."""
    rejection: GangRejection | None = None
    reached: int = 0
    """So many found a place before the first one that did not."""

    @property
    def fits(self) -> bool:
        return not self.failed


def run(units: Sequence[Unit], cluster: Cluster, policy: Policy) -> Iterator[Outcome]:
    """Place the units in this order; each finds the ones before it placed."""
    trial, nodes = Trial(cluster), tuple[str, ...]()
    for unit in units:
        siblings = (*unit.siblings, *nodes) if unit.late else unit.siblings
        outcome = _placed(replace(unit, siblings=siblings), cluster, trial, policy)
        yield outcome
        cluster, nodes = outcome.after, tuple(found.node for found in outcome.placements)


def place(unit: Unit, before: Cluster, policy: Policy) -> Outcome:
    """Place one unit."""
    return _placed(unit, before, Trial(before), policy)


def _placed(unit: Unit, before: Cluster, trial: Trial, policy: Policy) -> Outcome:
    """Place one unit on a trial of `before`."""
    if unit.nearness is not None:
        return _near(unit, unit.nearness, before, trial, policy)
    placements, failed, shapes = list[Placement](), list[Member](), set[Hashable]()
    first: GangRejection | None = None
    at_first, reached = trial.placed, 0
    for member in unit.members:
        # Places only get fewer: who is like one that found none finds none either.
        shape = _shape(member)
        found = None if shape in shapes else gangs.member_on(trial, member, policy)
        if isinstance(found, Placement):
            placements.append(found)
            reached += first is None
            continue
        first = first or found
        failed.append(member)
        shapes.add(shape)
        if unit.together:
            trial.take_back(at_first)
            return Outcome(unit, (), before, before, unit.members[reached:], first, reached)
    return Outcome(unit, tuple(placements), before, trial.cluster(), tuple(failed), first, reached)


def _near(unit: Unit, wish: Nearness, before: Cluster, trial: Trial, policy: Policy) -> Outcome:
    """Place one unit whose members want to be near each other, or each near the unit's siblings."""
    parts = [unit.members] if unit.together else [(member,) for member in unit.members]
    placements, failed, cluster = list[Placement](), list[Member](), before
    first, reached = None, 0
    for members in parts:
        found = racks.plan(members, cluster, policy, wish, unit.siblings)
        if not isinstance(found, GangRejection):
            placements += found
            for placement in found:
                cluster = cluster.with_placement(placement)
            continue
        names = [member.request.name for member in members]
        failed += members[names.index(found.member) :]
        if first is None:
            first, reached = found, len(placements) + names.index(found.member)
    for name in {found.node for found in placements}:
        trial.put(cluster.nodes[name])
    return Outcome(unit, tuple(placements), before, cluster, tuple(failed), first, reached)


def _shape(member: Member) -> Hashable:
    request, fit = member.request, member.fit
    return request.wants, request.wishes, fit.wishes, frozenset(fit.requests.items())
