"""Users, as everything behind authentication sees them.

Stands for `k8s.io/apiserver/pkg/authentication/user`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from gpuyard.writes import JSON

AUTHENTICATED: Final = "system:authenticated"
UNAUTHENTICATED: Final = "system:unauthenticated"
MASTERS: Final = "system:masters"


@dataclass(frozen=True, slots=True)
class User:
    """Whoever asks. `extra` is what their credentials say beside name and groups."""

    name: str
    groups: tuple[str, ...] = (AUTHENTICATED,)
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def info(self) -> JSON:
        """As authentication.k8s.io/v1 UserInfo, without what is empty."""
        found = {
            "username": self.name,
            "uid": self.uid,
            "groups": list(self.groups),
            "extra": {key: list(values) for key, values in self.extra.items()},
        }
        return {key: value for key, value in found.items() if value}


ADMIN: Final = User("kubernetes-admin", (MASTERS, AUTHENTICATED))
ANONYMOUS: Final = User("system:anonymous", (UNAUTHENTICATED,))


def service_account(namespace: str, name: str, **extra: str) -> User:
    """Who a pod with this service account is."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", AUTHENTICATED)
    told = {f"authentication.kubernetes.io/{key.replace('_', '-')}": (value,) for key, value in extra.items()}
    return User(f"system:serviceaccount:{namespace}:{name}", groups, extra=told)
