"""What would make pods fit that do not: fewer, a wish given up, more nodes, or the end of pods that run.

Stands for the advice that an operator of a cluster gives by heart. Laws: what is named was tried with the planner,
and would do; what is tried is bounded, so that no remedy is named does not mean that there is none.
"""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from gpuyard import vocabulary
from gpuyard.advice import expansion, simulation, waits
from gpuyard.advice.simulation import Outcome
from gpuyard.advice.waits import Held
from gpuyard.groups.gangs import Member
from gpuyard.placing import parts
from gpuyard.pods.wishes import Topology
from gpuyard.policies.candidates import Policy

_MODEST: Final[dict[str, dict[str, Any]]] = {
    vocabulary.TOPOLOGY: {"topology": Topology.BEST_EFFORT},
    vocabulary.GPU_MODEL: {"models": ()},
    vocabulary.MIN_GPU_MEMORY: {"memory_mib": 0},
}
"""What is wished without each of the annotations."""
_PARTS: Final = {"milli": "thousandths of a GPU", "mib": "MiB of a GPU"}


@dataclass(frozen=True, slots=True)
class Fewer:
    """Ask for `fits` of `what` instead of `asked`: pods, devices of a resource in each pod, or parts of a GPU."""

    what: str
    asked: int
    fits: int

    @property
    def text(self) -> str:
        one = self.what == "pods" and self.fits == 1
        return f"ask for {self.fits} {'pod' if one else self.what} instead of {self.asked}"


@dataclass(frozen=True, slots=True)
class Without:
    """Do without what an annotation of the pod wishes."""

    annotation: str

    @property
    def text(self) -> str:
        return f"do without the annotation {self.annotation}"


@dataclass(frozen=True, slots=True)
class MoreNodes:
    """Add `count` empty nodes like the one named."""

    like: str
    count: int

    @property
    def text(self) -> str:
        return f"add {self.count} node{'s' * (self.count > 1)} like {self.like}"


@dataclass(frozen=True, slots=True)
class Ends:
    """Wait until these pods (UIDs) end."""

    uids: tuple[str, ...]

    @property
    def text(self) -> str:
        return f"wait until {len(self.uids)} pod{'s' * (len(self.uids) > 1)} end{'s' * (len(self.uids) == 1)}"


Remedy = Fewer | Without | MoreNodes | Ends


def find(outcome: Outcome, policy: Policy, held: Held) -> Iterator[Remedy]:
    """The remedies for a unit that does not fit."""
    if outcome.reached or outcome.placements:
        yield Fewer("pods", len(outcome.unit.members), outcome.reached or len(outcome.placements))
    yield from _fewer_devices(outcome, policy)
    yield from _smaller_shares(outcome, policy)
    yield from _fewer_wishes(outcome, policy)
    if (added := expansion.smallest(outcome, policy)) is not None:
        yield MoreNodes(*added)
    if (ending := waits.shortest(outcome, policy, held)) is not None:
        yield Ends(ending)


def _fewer_devices(outcome: Outcome, policy: Policy) -> Iterator[Fewer]:
    """Where all pods ask for the same, in one container and of one resource."""
    wants = outcome.failed[0].request.wants
    if len(wants) != 1 or any(member.request.wants != wants for member in outcome.unit.members):
        return
    [want] = wants
    most = max((node.left(want.resource) for node in outcome.before.nodes.values()), default=0)
    for count in range(min(want.count - 1, most), 0, -1):
        if _does(outcome, policy, [_with_count(member, count) for member in outcome.unit.members]):
            yield Fewer(want.resource, want.count, count)
            return


def _smaller_shares(outcome: Outcome, policy: Policy) -> Iterator[Fewer]:
    """Where all pods say the same of how much of a GPU they need: as much as some GPU has left."""
    asked = outcome.failed[0].request.wishes.limits
    if any(member.request.wishes.limits != asked for member in outcome.unit.members):
        return
    rooms = [
        found
        for node in outcome.before.nodes.values()
        if node.occupancy
        for found in parts.left(node.occupancy).values()
    ]
    for name, what in _PARTS.items():
        much, most = getattr(asked, name), max((getattr(found, name) for found in rooms), default=0)
        if 0 < most < much:
            change = {"limits": dataclasses.replace(asked, **{name: most})}
            if _does(outcome, policy, [_wishing(member, change) for member in outcome.unit.members]):
                yield Fewer(what, much, most)


def _with_count(member: Member, count: int) -> Member:
    """The same pod, which asks for so many of the one resource that it wants."""
    [want] = member.request.wants
    request = dataclasses.replace(member.request, wants=(dataclasses.replace(want, count=count),))
    booked = {**member.fit.requests, want.resource: count}
    return Member(request, dataclasses.replace(member.fit, requests=booked))


def _fewer_wishes(outcome: Outcome, policy: Policy) -> Iterator[Without]:
    for annotation, change in _MODEST.items():
        members = [_wishing(member, change) for member in outcome.unit.members]
        if members != list(outcome.unit.members) and _does(outcome, policy, members):
            yield Without(annotation)
    if outcome.unit.nearness is not None:
        apart = dataclasses.replace(outcome, unit=dataclasses.replace(outcome.unit, nearness=None))
        if _does(apart, policy, list(outcome.unit.members)):
            yield Without(f"{vocabulary.TOPOLOGY} of the PodGroup")


def _wishing(member: Member, change: dict[str, Any]) -> Member:
    wishes = dataclasses.replace(member.request.wishes, **change)
    return Member(dataclasses.replace(member.request, wishes=wishes), member.fit)


def _does(outcome: Outcome, policy: Policy, members: list[Member]) -> bool:
    """Whether all of the unit fits if its members are these."""
    unit = dataclasses.replace(outcome.unit, members=tuple(members), together=True)
    return simulation.place(unit, outcome.before, policy).fits
