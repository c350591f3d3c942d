"""Where pods would go that nobody has created: the planner of gangs, over a snapshot that is then thrown away.

Stands for the cluster autoscaler's scheduling simulation. Laws: places are those that `gangs.plan` gives, member by
member, so the answer is what a plan would be; nothing but the arguments is read, and nothing is changed.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from gpuyard.groups import gangs
from gpuyard.groups.gangs import GangRejection, Member
from gpuyard.placing.cluster import Cluster, Placement
from gpuyard.placing.trials import Trial
from gpuyard.policies.candidates import Policy


@dataclass(frozen=True, slots=True)
class Unit:
    """Members that start `together` or not at all, or each for itself."""

    name: str
    members: tuple[Member, ...]
    together: bool


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
    trial = Trial(cluster)
    for unit in units:
        outcome = _placed(unit, cluster, trial, policy)
        yield outcome
        cluster = outcome.after


def place(unit: Unit, before: Cluster, policy: Policy) -> Outcome:
    """Place one unit."""
    return _placed(unit, before, Trial(before), policy)


def _placed(unit: Unit, before: Cluster, trial: Trial, policy: Policy) -> Outcome:
    """Place one unit on a trial of `before`."""
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


def _shape(member: Member) -> Hashable:
    request, fit = member.request, member.fit
    return request.wants, request.wishes, fit.wishes, frozenset(fit.requests.items())
