"""Which seat counts for a pod, and until when."""

from gpuyard.groups.reservations import Reservation, Seat
from gpuyard_extender.ledger.seats import Seats


def booked(expires: float, *uids: str, node: str = "n1", group: str = "g") -> Reservation:
    return Reservation("ns", group, len(uids), expires, tuple(Seat(uid, uid, node, {}) for uid in uids))


def test_the_reservation_that_lives_longest_seats_a_pod() -> None:
    seats = Seats()
    longer, shorter = booked(20.0, "a", node="n2"), booked(10.0, "a", node="n1")
    seats.record(None, longer)
    seats.record(None, shorter)
    found = seats.find("a")
    assert found is not None
    assert found[1].node == "n2"
    assert seats.record(longer, None) == {"a"}
    assert seats.find("a") == (shorter, shorter.seats[0])


def test_everything_ends_at_its_expiry_and_tells_whom_it_touches() -> None:
    seats = Seats()
    seats.record(None, booked(10.0, "a"))
    seats.promise(booked(20.0, "b", group="h"))
    assert seats.next_expiry() == 10.0
    assert seats.expire(10.0) == {"a"}
    assert seats.expire(19.9) == set()
    assert seats.expire(20.0) == {"b"}
    assert (seats.find("a"), seats.find("b"), seats.promised("ns", "h")) == (None, None, None)


def test_a_new_promise_of_a_group_replaces_the_old_one() -> None:
    seats = Seats()
    seats.promise(booked(10.0, "a", "b"))
    assert seats.promise(booked(11.0, "b", "c")) == {"a", "b", "c"}
    assert seats.find("a") is None


def test_a_seat_that_a_new_reservation_leaves_out_is_free() -> None:
    seats = Seats()
    old, new = booked(10.0, "a", "b"), booked(12.0, "b")
    seats.record(None, old)
    assert seats.record(old, new) == {"a", "b"}
    assert seats.find("a") is None
