"""One gang now: its group and members, who of them start together, and how far they have come."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from gpuyard.groups import leaders, roles
from gpuyard.groups.leaders import Leaders, Start
from gpuyard.groups.reservations import Reservation
from gpuyard.pods import memberships
from gpuyard.writes import JSON, Write
from gpuyard_kube.timestamps import seconds
from gpuyard_operator.deciding import actions, commit, endings, reasons, status
from gpuyard_operator.deciding.asking import Quest
from gpuyard_operator.deciding.status import Verdict
from gpuyard_operator.objects.groups import RELEASE, RESTART, Group
from gpuyard_operator.objects.members import Member, read

LEADER_SECONDS: Final = 5.0
"""How long members wait for a leader that comes with them, or else after them: time enough to create all pods."""


@dataclass(frozen=True, slots=True)
class Gang:
    """The members are in the order of their names."""

    group: Group
    members: tuple[Member, ...]
    now: float
    natives: int = 0
    """How many pods claim the group and are started by kube-scheduler with another."""
    leaders: Leaders = Leaders()
    preempted_by: str = ""
    """For whom its pods have to go."""
    contested: Mapping[str, int] = field(default_factory=dict)
    """How many pods claim the group too and belong to another, by the name of that."""

    @classmethod
    def of(cls, group: Group, pods: Sequence[JSON], now: float) -> "Gang":
        """The gang of a group whose members are among these pods."""
        natives = sum(map(memberships.is_native, pods))
        return cls(group, members_of(pods), now, natives, leaders.find(pods, group.min_member))

    def report(self, verdict: Verdict | None) -> tuple[Write, ...]:
        # Without a leader that comes late the others run as they should.
        late = self.leaders.start is Start.LATE
        group = replace(self.group, min_member=self.minimum) if late else self.group
        divided = reasons.divided(self.members)
        if verdict is not None and not verdict.scheduled and not verdict.message.endswith(divided or " "):
            verdict = replace(verdict, message=verdict.message + divided)
        fields = status.changes(group, self.members, verdict, self.now, self.preempted_by)
        return () if fields is None else actions.report(self.group, fields)

    def waiting(self, detail: str = "") -> Verdict:
        """Members are missing, or there is no verdict yet: `detail` says why not."""
        others = reasons.others(self.natives, self.contested)
        return reasons.waiting(self.group, self.members, detail, others)

    def scheduled(self, late: str = "") -> Verdict:
        """They were bound together. `late`: why further members do not run."""
        return reasons.scheduled(self.minimum, late)

    @property
    def crew(self) -> tuple[Member, ...]:
        """The members that start together: all but the leaders that start before or after them."""
        apart = self.leaders.apart
        return tuple(member for member in self.members if member.uid not in apart) if apart else self.members

    @property
    def ahead(self) -> tuple[Member, ...]:
        """The leaders that start now, each alone; those with GPUs at a place of their own."""
        found = self._leading if self.leaders.start is Start.BEFORE and self.over() is None else ()
        return tuple(member for member in found if member.waiting)

    @property
    def after(self) -> tuple[Member, ...]:
        """The leaders that start when the crew has."""
        return self._leading if self.leaders.start is Start.AFTER else ()

    def count(self, state: str) -> int:
        return sum(getattr(member, state) for member in self.crew)

    @property
    def minimum(self) -> int:
        """How many of the crew make a gang: minMember, less the leaders that start at another time."""
        match self.leaders.start:
            case Start.BEFORE:
                return max(1, self.group.min_member - len(self._leading))
            case Start.LATE if self._is_leader_late():
                return max(1, self.group.min_member - 1)
        return self.group.min_member

    @property
    def leader_due(self) -> float | None:
        """Until when to wait for a leader that is not there; None where there is none to wait for."""
        if self.leaders.start is not Start.LATE or any(member.live for member in self._leading):
            return None
        due = max((seconds(member.created) or 0.0 for member in self.members), default=0.0) + LEADER_SECONDS
        return due if self.now < due else None

    @property
    def _leading(self) -> tuple[Member, ...]:
        found = (member for member in self.members if member.uid in self.leaders.uids)
        return tuple(member for member in found if member.live or member.succeeded)

    def _is_leader_late(self) -> bool:
        """While the others are on nodes a leader that is not is late; before, it is waited for."""
        if any(member.holding or member.succeeded for member in self._leading):
            return False
        return self.count("holding") > 0 or not (self._leading or self.leader_due)

    @property
    def left(self) -> int:
        """How many members are on nodes or have done their work."""
        return self.count("holding") + self.count("succeeded")

    @property
    def needed(self) -> int:
        """How many members of a group that has not started must be bound together."""
        return max(1, self.minimum - self.count("succeeded"))

    def seated(self, found: Reservation) -> tuple[Member, ...]:
        """Who is bound by a Reservation: the crew, and the leaders with a place in it."""
        apart = self.leaders.apart & {seat.uid for seat in found.seats}
        return self.crew + tuple(member for member in self.members if member.uid in apart)

    def is_short(self, found: Reservation) -> bool:
        """Whether more members are needed together than a Reservation has been made for."""
        led = any(seat.uid in self.leaders.apart for seat in found.seats)
        return found.needed < self.needed and not led

    def quest(self) -> Quest | None:
        """Who needs places now, while no Reservation holds any: leaders and late members each alone, others together.

        None where nobody waits, or fewer than are needed; where the group is half bound, or is to restart.
        """
        if self.group.fault or self.over() is not None:
            return None
        waiting = tuple(member for member in self.crew if member.waiting)
        alone = tuple(member for member in self.ahead if member.guarded)
        if self.started():
            waiting += alone + tuple(member for member in self.after if member.waiting)
            whole = self.group.below not in (RESTART, RELEASE) or self.left >= self.minimum
            return Quest(self.group, waiting, 1) if waiting and whole else None
        if self.count("holding"):
            return None
        if alone:
            return Quest(self.group, alone, 1)
        in_turn = roles.in_turn((member, member.role) for member in waiting)
        return Quest(self.group, in_turn, self.needed) if len(waiting) >= self.needed else None

    def over(self) -> Verdict | None:
        """Why nobody of the group starts any more; None when it has not come to an end."""
        if not self.group.can_end:
            return None
        begun = self.count("holding") > 0 or self.started()
        return endings.over(self.group, self.now, started=begun)

    @property
    def due(self) -> float | None:
        """When the group is over if it has not started by then."""
        at = endings.due(self.group)
        return at if at is not None and self.now < at else None

    def started(self, reservation: Reservation | None = None) -> bool:
        """Whether minMember members were bound together, and one of the group is on a node or has succeeded.

        The condition Scheduled remembers it. While a Reservation is short of what it needs, members that failed in
        an earlier life of the group prove nothing.
        """
        if not self.count("holding") and not self.count("succeeded"):
            return False
        if status.has_started(self.group):
            return True
        if reservation is not None and commit.progress(reservation, self.crew, self.now).short:
            return False
        return sum(bool(member.node) or member.succeeded for member in self.crew) >= self.minimum


def members_of(pods: Sequence[JSON]) -> tuple[Member, ...]:
    """Those that are not kube-scheduler's to start."""
    found = [member for pod in pods if (member := read(pod)) is not None and not member.native]
    return tuple(sorted(found, key=lambda member: (member.name, member.uid)))
