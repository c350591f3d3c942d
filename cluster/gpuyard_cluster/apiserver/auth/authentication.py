"""Who a request comes from: a client certificate, a bearer token, and whom they may speak for.

Stands for kube-apiserver's request authenticators (x509, token file) and its impersonation filter. Laws: a
certificate has been verified by TLS before its subject is looked at; whoever shows a token that is not known is
refused, not taken for anonymous; whoever is authenticated may act as somebody else.
"""

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import unquote

from gpuyard_cluster.apiserver.auth.users import ADMIN, ANONYMOUS, AUTHENTICATED, User, service_account
from gpuyard_cluster.apiserver.errors import ApiError, bad_request

Headers = Sequence[tuple[str, str]]
"""Names in lower case; a name may come more than once."""

_EXTRA: Final = "impersonate-extra-"


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom a certificate names: its common name and its organizations."""

    name: str
    organizations: tuple[str, ...] = ()

    def user(self) -> User:
        return User(self.name, (*self.organizations, AUTHENTICATED))


@dataclass(frozen=True, slots=True)
class Authentication:
    """How callers are known. Without `required` whoever shows nothing is an administrator."""

    tokens: Mapping[str, User] = field(default_factory=dict, repr=False)
    required: bool = False

    def user(self, headers: Headers, shown: Subject | None = None) -> User:
        """Who asks, or for whom; `shown` is the subject of a verified certificate. 401 for nobody."""
        return _impersonated(self._asking(headers, shown), headers)

    def bearer(self, token: str) -> User | None:
        """Whose token this is."""
        known = (
            user for mine, user in self.tokens.items() if hmac.compare_digest(mine.encode(), token.encode())
        )
        return next(known, None)

    def _asking(self, headers: Headers, shown: Subject | None) -> User:
        if shown is not None:
            return shown.user()
        scheme, _, token = dict(headers).get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and token.strip():
            user = self.bearer(token.strip())
            if user is None and self.required:
                raise unauthorized()
            return user or ADMIN
        return ANONYMOUS if self.required else ADMIN


def unauthorized() -> ApiError:
    return ApiError(401, "Unauthorized", "Unauthorized")


def _groups_of(name: str) -> tuple[str, ...]:
    """Those that the name alone tells of: a service account is always in two."""
    parts = name.split(":")
    if parts[:2] != ["system", "serviceaccount"] or len(parts) != 4:
        return ()
    return service_account(*parts[2:]).groups


def _extra(headers: Headers) -> dict[str, tuple[str, ...]]:
    keys = dict.fromkeys(name for name, _ in headers if name.startswith(_EXTRA))
    return {
        unquote(key.removeprefix(_EXTRA)): tuple(value for name, value in headers if name == key)
        for key in keys
    }


def _impersonated(user: User, headers: Headers) -> User:
    """The user for whom this one speaks, as kubectl's --as, --as-group and --as-uid say."""
    wanted = [
        (name.removeprefix("impersonate-"), value)
        for name, value in headers
        if name.startswith("impersonate-")
    ]
    if not wanted or user == ANONYMOUS:
        return user
    name = next((value for key, value in wanted if key == "user"), "")
    if not name:
        raise bad_request("requested [...] without impersonating a user")
    named = tuple(value for key, value in wanted if key == "group")
    uid = next((value for key, value in wanted if key == "uid"), "")
    if name == ANONYMOUS.name:
        return replace(ANONYMOUS, uid=uid)
    groups = tuple(dict.fromkeys((*(named or _groups_of(name)), AUTHENTICATED)))
    return User(name, groups, uid, _extra(headers))
