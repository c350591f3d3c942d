"""Tokens and rules, as the API server knows them."""

from collections.abc import Callable
from typing import Any

import pytest

from gpuyard import vocabulary
from gpuyard.writes import Reply, Write
from gpuyard_cluster.clock import Steps
from gpuyard_extender.transport.attempts import MOST, MOST_ADDRESSES, SECONDS, Attempts
from gpuyard_extender.web.guard import Refusal
from gpuyard_extender.web.reviews import MOST_REMEMBERED, REMEMBERED_SECONDS, Reviews

OPERATOR = "system:serviceaccount:gpuyard-system:gpuyard-operator"


class Authority:
    """An API server that knows some tokens, and lets the operator ask for plans."""

    def __init__(self) -> None:
        self.users = {"op": OPERATOR, "nobody": "system:serviceaccount:default:default"}
        self.audiences: Any = [vocabulary.EXTENDER]
        self.seen: list[str] = []
        self.down = False

    async def send(self, write: Write) -> Reply:
        assert isinstance(write.body, dict)
        kind, spec = write.body["kind"], write.body["spec"]
        self.seen.append(kind)
        if self.down:
            return Reply(503, {"message": "cannot be reached"})
        return Reply(201, {"status": self._token(spec) if kind == "TokenReview" else self._access(spec)})

    def _token(self, spec: Any) -> Any:
        assert spec["audiences"] == [vocabulary.EXTENDER]
        name = self.users.get(spec["token"])
        if name is None:
            return {"authenticated": False, "error": "unknown"}
        user = {"username": name, "uid": "1", "groups": ["system:authenticated"]}
        return {"authenticated": True, "audiences": self.audiences, "user": user}

    def _access(self, spec: Any) -> Any:
        asked = spec["user"], spec["groups"], spec["nonResourceAttributes"]
        wanted = OPERATOR, ["system:authenticated"], {"verb": "post", "path": "/v1/plans"}
        return {"allowed": asked == wanted}

    async def read(self, path: str, **query: str) -> Reply:
        raise AssertionError(path)


class Door:
    def __init__(self) -> None:
        self.clock, self.authority = Steps(), Authority()
        self.reviews = Reviews(self.authority, self.clock)

    def ask(
        self, token: str = "op", verb: str = "post", path: str = "/v1/plans", address: str = "10.0.0.1"
    ) -> Refusal | None:
        return self.clock.complete(self.reviews.refusal(token, address, verb, path))

    def status(self, *asked: str) -> int:
        refusal = self.ask(*asked)
        return 200 if refusal is None else refusal[0]


def test_who_may_is_let_in_and_the_answer_counts_for_a_minute() -> None:
    door = Door()
    assert [door.status() for _ in range(5)] == [200] * 5
    assert door.authority.seen == ["TokenReview", "SubjectAccessReview"]
    door.clock.advance_to(door.clock.now() + REMEMBERED_SECONDS)
    assert door.status() == 200
    assert door.authority.seen == ["TokenReview", "SubjectAccessReview"] * 2


def test_guessing_is_slowed_down_where_it_comes_from_and_who_is_known_or_elsewhere_does_not_feel_it() -> None:
    door = Door()
    assert door.status("op") == 200
    said = [door.ask(f"guess-{number}") or (200, "") for number in range(MOST + 5)]
    assert [status for status, _ in said] == [401] * MOST + [429] * 5
    assert said[-1][1] == "10 tokens from here were not known; try again in 60 seconds"
    assert door.authority.seen.count("TokenReview") == 1 + MOST
    assert door.status("op") == 200
    refused = door.ask("guess", address="10.0.0.2")
    assert refused is not None
    assert refused[0] == 401
    door.clock.advance_to(door.clock.now() + SECONDS)
    assert door.status("op") == 200
    assert door.status("guess") == 401


def test_neither_who_may_not_nor_an_api_server_that_is_away_counts_as_guessing() -> None:
    door = Door()
    assert {door.status("nobody", "get", f"/v1/{number}") for number in range(2 * MOST)} == {403}
    door.authority.down = True
    assert {door.status(f"other-{number}") for number in range(2 * MOST)} == {503}


def test_ever_other_addresses_are_forgotten() -> None:
    tried = Attempts()
    for number in range(3 * MOST_ADDRESSES):
        tried.refused(str(number), 0.0)
    assert len(tried._refused) <= MOST_ADDRESSES


def test_a_token_that_is_taken_back_is_refused_after_a_minute() -> None:
    door = Door()
    assert door.status() == 200
    door.authority.users.clear()
    door.clock.advance_to(door.clock.now() + REMEMBERED_SECONDS)
    assert door.status() == 401


def test_a_token_of_somebody_else_or_for_something_else_is_refused() -> None:
    door = Door()
    assert door.status("nobody") == 403
    assert door.status("op", "post", "/v1/plans") == 200
    assert door.status("op", "get", "/v1/plans") == 403, "the yes was to something else"
    assert door.status("op", "get", "/v1/pods/a/b/explain") == 403
    refusal = door.ask("nobody")
    assert refusal is not None
    assert "may not post /v1/plans" in refusal[1]


@pytest.mark.parametrize("token", ["", "unknown", "x" * 100_000], ids=["none", "unknown", "endless"])
def test_who_has_no_token_that_is_known_is_told_how_to_make_one(token: str) -> None:
    refusal = Door().ask(token)
    assert refusal is not None
    assert (refusal[0], "create token gpuyard-reader --audience gpuyard-extender" in refusal[1]) == (
        401,
        True,
    )


@pytest.mark.parametrize("audiences", [["https://kubernetes.default.svc"], [], None])
def test_a_token_that_was_made_for_the_api_server_does_not_count(audiences: object) -> None:
    door = Door()
    door.authority.audiences = audiences
    assert door.status() == 401


def test_what_cannot_be_reviewed_is_refused_and_not_remembered() -> None:
    door = Door()
    door.authority.down = True
    assert door.status() == 503
    door.authority.down = False
    assert door.status() == 200
    door.authority.down = True
    assert door.status() == 200, "the minute is not over"
    assert door.status("op", "get", "/v1/other") == 503


@pytest.mark.parametrize("answer", [{}, {"status": None}, {"status": {"authenticated": True}}, {"items": []}])
def test_an_answer_that_says_nothing_lets_nobody_in(
    answer: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    door = Door()

    async def send(write: Write) -> Reply:
        return Reply(201, answer)

    monkeypatch.setattr(door.authority, "send", send)
    assert door.status() == 401


def test_ever_other_questions_do_not_make_the_memory_grow() -> None:
    door = Door()
    allowed: Callable[[Any], Any] = lambda _spec: {"allowed": True}  # noqa: E731
    door.authority._access = allowed  # type: ignore[method-assign]
    for n in range(MOST_REMEMBERED + 10):
        assert door.status("op", "get", f"/v1/pods/a/{n}/explain") == 200
    assert len(door.reviews._remembered) <= MOST_REMEMBERED
