"""Who a request comes from, by what it shows."""

import pytest

from gpuyard_cluster.apiserver.auth.authentication import Authentication, Subject
from gpuyard_cluster.apiserver.auth.users import ADMIN, ANONYMOUS, User, service_account
from gpuyard_cluster.apiserver.errors import ApiError

ALICE = User("alice", ("team", "system:authenticated"))
LOCKED = Authentication({"secret": ALICE, "admin": ADMIN}, required=True)
AS_ADMIN = ("authorization", "Bearer admin")


@pytest.mark.parametrize("header", ["Bearer secret", "bearer secret", "BEARER  secret "])
def test_a_token_says_who_asks(header: str) -> None:
    assert LOCKED.user([("authorization", header)]) == ALICE


def test_a_certificate_says_who_asks_and_counts_more_than_a_token() -> None:
    shown = Subject("bob", ("ops",))
    assert LOCKED.user([AS_ADMIN], shown) == User("bob", ("ops", "system:authenticated"))


@pytest.mark.parametrize("header", ["Bearer wrong", "Bearer secre", "bearer ü"])
def test_a_token_that_is_not_known_is_refused(header: str) -> None:
    with pytest.raises(ApiError) as refused:
        LOCKED.user([("authorization", header)])
    assert (refused.value.code, refused.value.reason) == (401, "Unauthorized")


@pytest.mark.parametrize("headers", [[], [("authorization", "Basic x")], [("authorization", "Bearer ")]])
def test_who_shows_nothing_is_anonymous_or_where_nothing_is_asked_for_the_administrator(
    headers: list[tuple[str, str]],
) -> None:
    assert LOCKED.user(headers) == ANONYMOUS
    assert Authentication().user(headers) == ADMIN


def test_an_open_server_takes_left_over_tokens_for_nothing() -> None:
    assert Authentication().user([("authorization", "Bearer of yesterday")]) == ADMIN


def test_whoever_is_known_may_speak_for_somebody_else() -> None:
    headers = [
        AS_ADMIN,
        ("impersonate-user", "carol"),
        ("impersonate-group", "a"),
        ("impersonate-group", "b"),
        ("impersonate-uid", "7"),
        ("impersonate-extra-scopes%2fkind", "x"),
        ("impersonate-extra-scopes%2fkind", "y"),
    ]
    carol = User("carol", ("a", "b", "system:authenticated"), "7", {"scopes/kind": ("x", "y")})
    assert LOCKED.user(headers) == carol


def test_a_service_account_that_is_spoken_for_has_its_groups() -> None:
    name = "system:serviceaccount:web:robot"
    assert LOCKED.user([AS_ADMIN, ("impersonate-user", name)]) == service_account("web", "robot")


def test_who_speaks_for_the_anonymous_is_anonymous() -> None:
    assert LOCKED.user([AS_ADMIN, ("impersonate-user", "system:anonymous")]) == ANONYMOUS


def test_nobody_speaks_for_others_without_being_known() -> None:
    assert LOCKED.user([("impersonate-user", "kubernetes-admin")]) == ANONYMOUS


def test_groups_alone_cannot_be_spoken_for() -> None:
    with pytest.raises(ApiError) as refused:
        LOCKED.user([AS_ADMIN, ("impersonate-group", "system:masters")])
    assert refused.value.code == 400


def test_no_secret_stands_in_what_is_printed() -> None:
    assert "secret" not in repr(LOCKED)
