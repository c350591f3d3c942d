"""Every row of the table in `commit`."""

import pytest

from gpuyard.groups.reservations import Reservation, Seat
from gpuyard_operator.deciding.commit import HALF_SECONDS, Course, progress, undo_at
from gpuyard_operator.objects.members import Member

NOW = 1000.0
SEEN = {"a": NOW - 1, "old": NOW - HALF_SECONDS}
"""Since when the operator has known that they are bound."""


def reservation(*uids: str, needed: int = 2, expires: float = NOW + 10) -> Reservation:
    return Reservation("default", "ring", needed, expires, tuple(Seat(u, u, f"node-{u}", {}) for u in uids))


def waiting(uid: str, gated: bool = True) -> Member:
    return Member("default", uid, uid, gated=gated)


def bound(uid: str, phase: str = "Running", terminating: bool = False) -> Member:
    return Member("default", uid, uid, "node-1", phase, terminating=terminating)


ROWS = [
    ("all bound", reservation("a", "b"), [bound("a"), bound("b")], Course.DONE),
    (
        "enough bound, one may follow",
        reservation("a", "b", "c"),
        [bound("a"), bound("b"), waiting("c")],
        Course.OPEN,
    ),
    (
        "enough bound, the rest came too late",
        reservation("a", "b", "c", expires=NOW),
        [bound("a"), bound("b"), waiting("c")],
        Course.DONE,
    ),
    ("half bound just now", reservation("a", "b"), [bound("a"), waiting("b", gated=False)], Course.OPEN),
    ("half bound for long", reservation("old", "b"), [bound("old"), waiting("b")], Course.UNDO),
    (
        "half bound when it expires",
        reservation("a", "b", expires=NOW),
        [bound("a"), waiting("b")],
        Course.OPEN,
    ),
    ("half bound, the other is gone", reservation("old", "b"), [bound("old")], Course.UNDO),
    (
        "already evicted, not gone yet",
        reservation("old", "b"),
        [bound("old", terminating=True)],
        Course.UNDO,
    ),
    (
        "a bound member has failed already",
        reservation("a", "b"),
        [bound("a"), bound("b", phase="Failed")],
        Course.DONE,
    ),
    ("nobody bound yet", reservation("a", "b"), [waiting("a"), waiting("b")], Course.OPEN),
    ("nobody bound in time", reservation("a", "b", expires=NOW), [waiting("a"), waiting("b")], Course.VOID),
    ("a member is gone", reservation("a", "b"), [waiting("a")], Course.VOID),
    (
        "a namesake took the place of a member",
        reservation("a", "old-b"),
        [waiting("a"), waiting("b")],
        Course.VOID,
    ),
    ("a reservation without sense", reservation(needed=0), [], Course.VOID),
]


@pytest.mark.parametrize(("case", "places", "members", "course"), ROWS, ids=[row[0] for row in ROWS])
def test_a_reservation_takes_its_course(
    case: str, places: Reservation, members: list[Member], course: Course
) -> None:
    assert progress(places, members, NOW, seen=SEEN).course is course


def test_pending_members_come_with_the_node_of_their_seat() -> None:
    found = progress(reservation("a", "b"), [bound("a"), waiting("b")], NOW)
    assert [(member.name, node) for member, node in found.pending] == [("b", "node-b")]
    assert [member.name for member in found.bound] == ["a"]


def test_a_half_bound_gang_is_looked_at_again_when_its_time_is_up() -> None:
    found = progress(reservation("a", "b"), [bound("a"), waiting("b")], NOW, seen=SEEN)
    assert found.until == NOW - 1 + HALF_SECONDS


def test_the_time_of_half_a_gang_begins_when_it_is_first_seen_so() -> None:
    strange = bound("strange")
    assert undo_at([strange], {}, NOW) == NOW + HALF_SECONDS
    assert undo_at([strange, bound("a")], SEEN, NOW) == NOW - 1 + HALF_SECONDS
    assert progress(reservation("strange", "b"), [strange, waiting("b")], NOW).course is Course.OPEN
