"""What a user may do: the same for requests and for the reviews that ask about them."""

import pytest

from gpuyard_cluster.apiserver.auth import authorization
from gpuyard_cluster.apiserver.auth.users import ADMIN, ANONYMOUS, User
from gpuyard_cluster.apiserver.errors import ApiError

PODS = "/api/v1/pods"


def test_administrators_may_do_everything_as_on_every_cluster() -> None:
    authorization.admit(ADMIN, PODS)
    assert authorization.why(ADMIN, PODS) == ""


def test_so_may_whoever_is_known_and_is_told_that_roles_are_not_simulated() -> None:
    authorization.admit(User("alice"), PODS)
    assert "roles are not simulated" in authorization.why(User("alice"))


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/livez/ping", "/readyz", "/version"])
def test_health_and_version_are_open_to_all(path: str) -> None:
    authorization.admit(ANONYMOUS, path)


@pytest.mark.parametrize(
    "path", [PODS, "/", "/api", "/apis", "/openapi/v3", "/metrics", "/healthzz", "/version2"]
)
def test_everything_else_needs_a_user(path: str) -> None:
    with pytest.raises(ApiError) as refused:
        authorization.admit(ANONYMOUS, path)
    assert refused.value.code == 401
    assert not authorization.may(ANONYMOUS, path)
    assert authorization.why(ANONYMOUS, path) == authorization.NOBODY
