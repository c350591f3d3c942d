"""Which question is put to the extender, and how long its answers are believed."""

from dataclasses import replace

import pytest

from gpuyard.groups.nearness import Domain, Nearness
from gpuyard.groups.plans import PlanAnswer, Planned, PlanRequest, Unplaceable, Unready
from gpuyard.groups.reservations import Reservation, Seat
from gpuyard.verdicts import Reason, Rejection
from gpuyard_operator.deciding.asking import (
    AGAIN_SECONDS,
    LONGEST_SECONDS,
    RETRY_SECONDS,
    SETTLE_SECONDS,
    TRIES,
    Answered,
    Ask,
    Hold,
    Known,
    Quest,
    Record,
    Refused,
    pursue,
)
from gpuyard_operator.deciding.commit import LEAST_SECONDS
from gpuyard_operator.objects.groups import Group
from gpuyard_operator.objects.members import Member
from gpuyard_operator.room.queueing_hints import Opening

NOW = 1000.0
GROUP = Group("default", "ring", "uid-ring", 2)
FULL = Unplaceable("b", (Rejection("node-1", Reason.INSUFFICIENT_GPUS, ""),))


def quest(names: str = "ab", needed: int = 2) -> Quest:
    return Quest(GROUP, tuple(Member("default", name, f"uid-{name}", gated=True) for name in names), needed)


def request(names: str, needed: int = 2) -> PlanRequest:
    return PlanRequest("default", "ring", needed, tuple(f"uid-{name}" for name in names))


def known(
    *answers: tuple[str, PlanAnswer], ago: float = 1.0, needed: int = 2, changed_at: float = 0.0
) -> Known:
    found = tuple(Answered(request(names, needed), answer, 7, NOW - ago) for names, answer in answers)
    return Known(found, Opening(7, changed_at))


def planned(names: str, expires: float = NOW + 10) -> Planned:
    seats = tuple(Seat(f"uid-{name}", name, "node-1", {}) for name in names)
    return Planned(Reservation("default", "ring", 2, expires, seats))


def test_all_waiting_members_are_asked_for_at_once() -> None:
    assert pursue(quest("abc"), Known(), NOW) == Ask(request("abc"))


def test_places_that_were_found_are_recorded() -> None:
    answer = planned("ab")
    assert pursue(quest(), known(("ab", answer)), NOW) == Record(answer.reservation)


@pytest.mark.parametrize(
    ("answer", "members"),
    [
        (planned("ab"), "ac"),
        (planned("a"), "ab"),
        (Planned(Reservation("default", "ring", 2, NOW + 10, ())), "ab"),
    ],
    ids=["a member is gone", "a seat is missing", "no seat at all"],
)
def test_places_that_no_longer_fit_are_asked_for_anew(answer: PlanAnswer, members: str) -> None:
    assert pursue(quest(members), known(("ab", answer)), NOW) == Ask(request(members))


@pytest.mark.parametrize("skew", [-300, -25, 0, 25, 300])
def test_places_that_were_found_are_good_for_a_minute_by_the_own_clock_or_as_long_as_they_say(
    skew: int,
) -> None:
    answer, good_for = planned("ab", expires=NOW + LEAST_SECONDS - skew), LEAST_SECONDS + max(0, -skew)
    found = known(("ab", answer), ago=0.0)
    assert pursue(quest(), found, NOW + good_for - 1) == Record(answer.reservation)
    assert pursue(quest(), found, NOW + good_for) == Ask(request("ab"))


def test_a_refusal_stands_until_the_retry() -> None:
    refusal = Unplaceable("b", ())
    stands = Refused(refusal, NOW - 1 + RETRY_SECONDS, request("ab"))
    assert pursue(quest(), known(("ab", refusal)), NOW) == stands


def test_a_refusal_is_forgotten_when_the_cluster_changes_or_time_passes() -> None:
    refused = known(("ab", FULL))
    assert pursue(quest(), replace(refused, opened=Opening(8)), NOW) == Ask(request("ab"))
    assert pursue(quest(), refused, NOW + RETRY_SECONDS) == Ask(request("ab"))


@pytest.mark.parametrize("answer", [planned("ab"), Unplaceable("b", ())], ids=["places", "a refusal"])
def test_an_answer_is_worth_nothing_once_the_group_wishes_to_be_placed_otherwise(answer: PlanAnswer) -> None:
    wish = Nearness(Domain.SAME_RACK)
    wishful = replace(quest(), group=replace(GROUP, nearness=wish))
    assert pursue(wishful, known(("ab", answer)), NOW) == Ask(replace(request("ab"), nearness=wish))


def test_a_refusal_right_after_a_change_is_asked_about_once_more_for_the_extender_may_lag() -> None:
    refused = known(("ab", FULL), changed_at=NOW - 1.5)
    stands = Refused(FULL, NOW - 1.5 + SETTLE_SECONDS, request("ab"))
    assert pursue(quest(), refused, NOW) == stands
    assert pursue(quest(), refused, NOW - 1.5 + SETTLE_SECONDS) == Ask(request("ab"))


def test_a_group_larger_than_it_needs_starts_with_the_members_before_the_one_that_does_not_fit() -> None:
    assert pursue(quest("abcd"), known(("abcd", Unplaceable("c", ()))), NOW) == Ask(request("ab"))


def test_a_member_among_the_needed_ones_that_does_not_fit_is_left_out_alone() -> None:
    assert pursue(quest("abcd"), known(("abcd", Unplaceable("a", ()))), NOW) == Ask(request("bcd"))


def test_questions_about_ever_smaller_parts_come_to_an_end() -> None:
    names = "abcdefghijklmnop"
    refusals = [(names[i:], Unplaceable(names[i], ())) for i in range(TRIES)]
    assert isinstance(pursue(quest(names, 1), known(*refusals, needed=1), NOW), Refused)


def test_an_answer_that_names_nobody_refuses_all() -> None:
    assert isinstance(pursue(quest("abc"), known(("abc", Unplaceable("stranger", ()))), NOW), Refused)


def test_the_same_question_is_not_put_again_at_once() -> None:
    unready = known(("ab", Unready("pods not seen yet")), ago=0.1)
    assert pursue(quest(), unready, NOW) == Hold(NOW - 0.1 + AGAIN_SECONDS, "pods not seen yet")
    assert pursue(quest(), unready, NOW + AGAIN_SECONDS) == Ask(request("ab"))


def test_an_extender_that_gives_no_verdict_is_asked_more_and_more_seldom() -> None:
    silent = known(*[("ab", Unready("cannot be reached"))] * 9)
    assert pursue(quest(), silent, NOW) == Hold(NOW - 1 + LONGEST_SECONDS, "cannot be reached")


def test_a_member_that_comes_late_makes_it_another_question() -> None:
    unready = known(("ab", Unready("pods not seen yet")), ago=0.1)
    assert pursue(quest("abc"), unready, NOW) == Ask(request("abc"))
