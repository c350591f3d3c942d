"""Plans of gangs as they travel between operator and extender."""

from typing import Any

import pytest

from gpuyard.groups.nearness import Domain, Nearness
from gpuyard.groups.plans import (
    MOST_NEEDED,
    Planned,
    PlanRequest,
    Unplaceable,
    Unready,
    answer_from_json,
    answer_to_json,
    request_from_json,
    request_to_json,
)
from gpuyard.groups.reservations import Reservation, Seat
from gpuyard.verdicts import Reason, Rejection

REQUEST = PlanRequest("default", "g", 2, ("u1", "u2"))


def test_a_request_survives_its_way() -> None:
    assert request_from_json(request_to_json(REQUEST)) == REQUEST
    urgent = PlanRequest("default", "g", 1, ("u1",), preempt=True)
    assert request_from_json(request_to_json(urgent)) == urgent
    near = PlanRequest("default", "g", 1, ("u1",), nearness=Nearness(Domain.SAME_BLOCK, required=False))
    assert request_from_json(request_to_json(near)) == near


@pytest.mark.parametrize(
    "answer",
    [
        Planned(Reservation("default", "g", 1, 60.5, (Seat("u1", "m0", "n1", {"c": {"r": ("d",)}}),))),
        Unplaceable("m1", (Rejection("n1", Reason.INSUFFICIENT_GPUS, "1 of 2"),)),
        Unready("not synced"),
    ],
)
def test_an_answer_survives_its_way(answer: Planned | Unplaceable | Unready) -> None:
    assert answer_from_json(answer_to_json(answer)) == answer


def test_fields_of_a_newer_version_are_passed_over() -> None:
    assert request_from_json(request_to_json(REQUEST) | {"later": 1}) == REQUEST
    answer = Planned(Reservation("default", "g", 1, 60.5, (Seat("u1", "m0", "n1", {}),)))
    newer = answer_to_json(answer) | {"later": 1}
    newer["planned"]["spec"] |= {"later": 1}
    newer["planned"]["spec"]["seats"][0] |= {"later": 1}
    assert answer_from_json(newer) == answer


@pytest.mark.parametrize("body", [None, [], 1, "x", True])
def test_what_is_no_object_is_no_request(body: Any) -> None:
    with pytest.raises(ValueError, match="JSON object"):
        request_from_json(body)


@pytest.mark.parametrize(
    ("field", "contents"),
    [
        ("namespace", [None, "", 1, {}, ["x"]]),
        ("podGroup", [None, "", 1, {}, ["x"]]),
        ("needed", [None, "2", 2.0, 2.7, 1e300, True, 0, -5, MOST_NEEDED + 1, 10**30, [2]]),
        ("members", [None, "u1", {}, [], [1], ["u1", None], ["u1", "u2", "u1"]]),
    ],
)
def test_a_field_that_cannot_be_used_is_named(field: str, contents: list[Any]) -> None:
    body = request_to_json(REQUEST)
    for content in contents:
        with pytest.raises(ValueError, match=f"^{field}: "):
            request_from_json({**body, field: content})
    del body[field]
    with pytest.raises(ValueError, match=f"^{field}: "):
        request_from_json(body)


@pytest.mark.parametrize("content", [1, "true", None])
def test_whether_others_may_go_is_said_by_yes_or_no(content: Any) -> None:
    with pytest.raises(ValueError, match="^preempt: "):
        request_from_json({**request_to_json(REQUEST), "preempt": content})
