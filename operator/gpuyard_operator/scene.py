"""What reconciling looks at, and what comes out of it, as values."""

from collections.abc import Sequence
from dataclasses import dataclass

from gpuyard.plans import PlanRequest
from gpuyard.reservations import Reservation
from gpuyard.writes import JSON, Write
from gpuyard_operator import actions, commit, reasons, status
from gpuyard_operator.asking import Known, Quest
from gpuyard_operator.groups import Group
from gpuyard_operator.members import Member, read
from gpuyard_operator.status import Verdict


@dataclass(frozen=True, slots=True)
class View:
    """All that is known about one PodGroup. `pods` are its members, in its namespace; `known` came since the last
    Reservation; `lost` are the UIDs of reserved members whose devices another pod holds, or whose node is gone."""

    group: JSON | None
    pods: tuple[JSON, ...] = ()
    reservation: JSON | None = None
    known: Known = Known()
    lost: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()
    """The paths of evictions that failed."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Do `writes` in order, then `ask`; look again at `requeue_at` at the latest. `says` is for people."""

    writes: tuple[Write, ...] = ()
    requeue_at: float | None = None
    ask: PlanRequest | None = None
    says: str = ""
    evicts: bool = False
    """The writes take pods away: be sure of what was seen before."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A view, read: the members in the order of their names."""

    group: Group
    members: tuple[Member, ...]
    now: float
    natives: int = 0
    """How many pods claim the group and are started by kube-scheduler with another."""

    @classmethod
    def of(cls, group: Group, pods: Sequence[JSON], now: float) -> "Scene":
        """The scene of a group whose members are among these pods."""
        own = members_of(pods)
        return cls(group, own, now, natives=sum(member.native for member in map(read, pods) if member))

    def report(self, verdict: Verdict | None) -> tuple[Write, ...]:
        fields = status.changes(self.group, self.members, verdict, self.now)
        return () if fields is None else (actions.report(self.group, fields),)

    def waiting(self, detail: str = "") -> Verdict:
        """Members are missing, or there is no verdict yet: `detail` says why not."""
        return reasons.waiting(self.group, self.members, detail, self.natives)

    def count(self, state: str) -> int:
        return sum(getattr(member, state) for member in self.members)

    @property
    def left(self) -> int:
        """How many members are on nodes or have done their work."""
        return self.count("holding") + self.count("succeeded")

    @property
    def needed(self) -> int:
        """How many members of a group that has not started must be bound together."""
        return max(1, self.group.min_member - self.count("succeeded"))

    def quest(self) -> Quest | None:
        """Who needs places now, while no Reservation holds any: late members each alone, the others together.

        None where nobody waits, or not all that are needed; of a group that is to restart, or half bound, nobody is let in.
        """
        waiting = tuple(member for member in self.members if member.waiting)
        if self.started():
            whole = not self.group.restarts or self.left >= self.group.min_member
            return Quest(self.group, waiting, 1) if waiting and whole else None
        if self.count("holding") or len(waiting) < self.needed:
            return None
        return Quest(self.group, waiting, self.needed)

    def started(self, reservation: Reservation | None = None) -> bool:
        """Whether minMember members were bound together, and one of the group is on a node or has succeeded.

        The condition Scheduled remembers it. While a Reservation is short of what it needs, members that failed in
        an earlier life of the group prove nothing.
        """
        if not self.count("holding") and not self.count("succeeded"):
            return False
        if status.has_started(self.group):
            return True
        if reservation is not None and commit.progress(reservation, self.members, self.now).short:
            return False
        return sum(bool(member.node) or member.succeeded for member in self.members) >= self.group.min_member


def members_of(pods: Sequence[JSON]) -> tuple[Member, ...]:
    """Those that are not kube-scheduler's to start."""
    found = [member for pod in pods if (member := read(pod)) is not None and not member.native]
    return tuple(sorted(found, key=lambda member: (member.name, member.uid)))
