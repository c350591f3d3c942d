"""What a user may do.

Stands for kube-apiserver's authorizers. Law: the access reviews and the server ask the same function, so that
`kubectl auth can-i` says what would really happen. Roles are not simulated: they are stored and grant nothing, and
whoever is authenticated may do everything.
"""

from typing import Final

from gpuyard_cluster.apiserver.auth.authentication import unauthorized
from gpuyard_cluster.apiserver.auth.users import AUTHENTICATED, MASTERS, User

OPEN: Final = ("/healthz", "/livez", "/readyz", "/version")
"""Paths, with what is below them, that need no user (ClusterRole system:public-info-viewer)."""

NO_ROLES: Final = "roles are not simulated: every authenticated user may do everything"
NOBODY: Final = "only authenticated users may do this"


def may(user: User, path: str = "") -> bool:
    """Whether the user may do anything at all; `path` is asked where no resource is meant."""
    return not {AUTHENTICATED, MASTERS}.isdisjoint(user.groups) or _is_open(path)


def why(user: User, path: str = "") -> str:
    """What a review adds to its answer; nothing where a real cluster would give the same answer."""
    if not may(user, path):
        return NOBODY
    return "" if MASTERS in user.groups or _is_open(path) else NO_ROLES


def admit(user: User, path: str) -> None:
    """401 for users that may not ask this path."""
    if not may(user, path):
        raise unauthorized()


def _is_open(path: str) -> bool:
    return any(path == known or path.startswith(f"{known}/") for known in OPEN)
