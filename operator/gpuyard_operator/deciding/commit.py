"""How far a Reservation has come: the one commit in which a gang's members are bound together.

bound seats             members still to bind   time                      course
needed or more          none                    any                       DONE: nothing left to hold
needed or more          some                    before expiry             OPEN
needed or more          some                    expired                   DONE: the rest is asked for anew
some, fewer than needed any                     first seen < 4 s ago      OPEN: it is being completed
some, fewer than needed any                     first seen >= 4 s ago     UNDO: evict the bound, give up the places
none                    needed or more          before expiry             OPEN
none                    needed or more          expired                   VOID: give up the places, plan anew
none                    fewer than needed       any                       VOID: it cannot come true any more

A member whose place is lost has nothing to bind to. Where the gang can do without it the others go on, but such a
Reservation counts as expired `LOST_SECONDS` after it was made: then that member gets another place. One that is bound
without a seat, by somebody else's hand, counts as bound: it must not stand alone either. The 4 s count from when the
operator saw the first of them bound: what a pod says of that is by the API server's clock, and clocks differ. An
operator that starts counts anew.
Likewise a Reservation that came into being before its eyes lasts `LEAST_SECONDS`, though its clock be ahead of the
one by which the object expires; one that it finds when it starts expires when it says so.
"""

import enum
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from gpuyard.groups import reservations
from gpuyard.groups.reservations import Reservation
from gpuyard.writes import JSON
from gpuyard_operator.objects.members import Member

HALF_SECONDS = 4.0
"""How long a gang may be half bound: with one second for the evictions it is never longer than 5 s.

The extender holds binds for at most 3 s *before* the first of them goes through, so this is time enough to finish.
"""


LEAST_SECONDS = 60.0
"""The extender keeps the places of a plan for so long, and longer where others have to go first."""

LOST_SECONDS = 10.0
"""Time enough for the others to be un-gated and bound."""

Seen = Mapping[str, float]
"""When the operator first saw the pods on nodes so, by UID (what is not there it sees so now for the first time), and
when it saw a Reservation come into being, by the text of its expiry."""


class Course(enum.Enum):
    """What becomes of a Reservation now."""

    OPEN = "open"
    DONE = "done"
    UNDO = "undo"
    VOID = "void"


@dataclass(frozen=True, slots=True)
class Progress:
    """`pending` are the members still to bind, each with the node of its seat; `until` is when to look again."""

    course: Course
    pending: tuple[tuple[Member, str], ...]
    bound: tuple[Member, ...]
    beside: tuple[Member, ...]
    """Members on nodes without a seat, while several must be bound together."""
    until: float
    short: bool
    """Fewer are bound than must be bound together."""


def progress(
    reservation: Reservation,
    members: Sequence[Member],
    now: float,
    lost: Container[str] = (),
    seen: Seen = MappingProxyType({}),
) -> Progress:
    """Where the reservation stands, by the table above. Seats are matched by UID, never by name."""
    by_uid = {member.uid: member for member in members}
    seated = [(by_uid[seat.uid], seat.node) for seat in reservation.seats if seat.uid in by_uid]
    pending = tuple((member, node) for member, node in seated if member.waiting and member.uid not in lost)
    bound = tuple(member for member, _ in seated if member.node)
    beside = _beside(reservation, members)
    half_until = undo_at(bound + beside, seen, now)
    if any(member.waiting and member.uid in lost for member, _ in seated):
        reservation = replace(reservation, expires=reservation.expires - LEAST_SECONDS + LOST_SECONDS)
    course, until = _course(reservation, len(pending), len(bound) + len(beside), half_until, now)
    short = len(bound) + len(beside) < max(1, reservation.needed)
    return Progress(course, pending, bound, beside, until, short)


def lasting(obj: JSON, seen: Seen) -> Reservation | None:
    """The reservation in an object, with its expiry by the operator's clock; None when it cannot be used."""
    found = reservations.from_object(obj)
    if found is None:
        return None
    least = seen.get(str(obj["spec"]["expires"]), 0.0) + LEAST_SECONDS
    return replace(found, expires=max(found.expires, least))


def undo_at(bound: Sequence[Member], seen: Seen, now: float) -> float:
    """When a half bound gang is undone."""
    return min((seen.get(member.uid, now) for member in bound), default=now) + HALF_SECONDS


def _beside(reservation: Reservation, members: Sequence[Member]) -> tuple[Member, ...]:
    """Where one is needed each comes alone: nobody is beside the others."""
    if reservation.needed <= 1:
        return ()
    seated = {seat.uid for seat in reservation.seats}
    return tuple(member for member in members if member.holding and member.uid not in seated)


def _course(
    reservation: Reservation, pending: int, bound: int, half_until: float, now: float
) -> tuple[Course, float]:
    expired = now >= reservation.expires
    if bound >= max(1, reservation.needed):
        return (Course.DONE if expired or not pending else Course.OPEN), reservation.expires
    if bound:
        return (Course.UNDO if now >= half_until else Course.OPEN), half_until
    void = expired or pending < max(1, reservation.needed)
    return (Course.VOID if void else Course.OPEN), reservation.expires
