"""Where pods would go that nobody has created: the planner of gangs, over a snapshot that is then thrown away.

Stands for the cluster autoscaler's scheduling simulation. Laws: places are those that `gangs.plan` gives, member by
member, so the answer is what a plan would be; nothing but the arguments is read, and nothing is changed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gpuyard import gangs
from gpuyard.cluster import Cluster, Placement
from gpuyard.gangs import GangRejection, Member
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
    for unit in units:
        outcome = place(unit, cluster, policy)
        yield outcome
        cluster = outcome.after


def place(unit: Unit, before: Cluster, policy: Policy) -> Outcome:
    """Place one unit."""
    cluster, placements, failed = before, list[Placement](), list[Member]()
    first: GangRejection | None = None
    reached = 0
    for member in unit.members:
        # Places only get fewer: who is like one that found none finds none either.
        alike = any(_shape(member) == _shape(other) for other in failed)
        found = None if alike else gangs.plan([member], cluster, policy)
        if isinstance(found, tuple):
            placements += found
            cluster = cluster.with_placement(found[0])
            reached += first is None
            continue
        first = first or found
        failed.append(member)
        if unit.together:
            return Outcome(unit, (), before, before, unit.members[reached:], first, reached)
    return Outcome(unit, tuple(placements), before, cluster, tuple(failed), first, reached)


def _shape(member: Member) -> object:
    request, fit = member.request, member.fit
    return request.wants, request.wishes, fit.wishes, fit.requests
