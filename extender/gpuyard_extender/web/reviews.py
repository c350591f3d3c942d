"""Tokens and rules, as the API server knows them.

Stands for delegated authentication and authorization in Kubernetes' own components: TokenReview says who a token
belongs to, SubjectAccessReview whether the cluster's roles let them ask a path (`nonResourceURLs`). Laws: a token
counts only when it was made for the extender, so that what is sent here is of no use elsewhere; a yes counts for a
minute; what cannot be reviewed is refused; guessing is slowed down (`attempts`).
"""

import hashlib
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final

from gpuyard import vocabulary
from gpuyard.writes import JSON, Reply, Write
from gpuyard_extender.transport import attempts
from gpuyard_extender.transport.attempts import Attempts
from gpuyard_extender.web.guard import Refusal
from gpuyard_kube.api import Api
from gpuyard_kube.runtime import Runtime

TOKEN_REVIEWS: Final = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCESS_REVIEWS: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"

REMEMBERED_SECONDS: Final = 60.0
MOST_REMEMBERED: Final = 1024
"""Whoever sends ever other tokens makes us ask anew, not grow."""
TOKEN_BYTES: Final = 8192
"""Longer ones are nobody's."""

NO_TOKEN: Final = (
    f"send a token: kubectl -n {vocabulary.NAMESPACE} create token {vocabulary.READER}"
    f" --audience {vocabulary.EXTENDER}"
)
TOO_MANY: Final = (
    f"{attempts.MOST} tokens from here were not known; try again in {attempts.SECONDS:.0f} seconds"
)


@dataclass(frozen=True, slots=True)
class User:
    """Who the API server says a token belongs to."""

    name: str
    uid: str
    groups: tuple[str, ...]


class Reviews:
    """`gpuyard_extender.web.guard.Reviewer` by the API server."""

    def __init__(self, api: Api, runtime: Runtime) -> None:
        self._api, self._runtime = api, runtime
        self._remembered: dict[Hashable, tuple[float, User]] = {}
        self._attempts = Attempts()

    async def refusal(self, token: str, address: str, verb: str, path: str) -> Refusal | None:
        if not token or len(token) > TOKEN_BYTES:
            return 401, NO_TOKEN
        # Tokens are secrets: what is remembered is not the token itself.
        key = hashlib.sha256(token.encode()).digest()
        user = self._recall(key)
        if user is None:
            if self._attempts.exhausted(address, self._runtime.now()):
                return 429, TOO_MANY
            reviewed = _user(await self._api.send(_token_review(token)))
            if not isinstance(reviewed, User):
                if reviewed[0] == 401:
                    self._attempts.refused(address, self._runtime.now())
                return reviewed
            user = self._remember(key, reviewed)
        return await self._forbidden(user, verb, path)

    async def _forbidden(self, user: User, verb: str, path: str) -> Refusal | None:
        question = (user, verb, path)
        if self._recall(question) is not None:
            return None
        reply = await self._api.send(_access_review(user, verb, path))
        if not reply.ok:
            return 503, f"the API server does not say who may ask this: {reply.reason}"
        if not (reply.body.get("status") or {}).get("allowed"):
            return 403, f"{user.name} may not {verb} {path}; a ClusterRole with nonResourceURLs can allow it"
        self._remember(question, user)
        return None

    def _recall(self, key: Hashable) -> User | None:
        until, user = self._remembered.get(key, (0.0, None))
        return user if self._runtime.now() < until else None

    def _remember(self, key: Hashable, user: User) -> User:
        if len(self._remembered) >= MOST_REMEMBERED:
            self._remembered.clear()
        self._remembered[key] = (self._runtime.now() + REMEMBERED_SECONDS, user)
        return user


def _token_review(token: str) -> Write:
    spec = {"token": token, "audiences": [vocabulary.EXTENDER]}
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": spec}
    return Write("POST", TOKEN_REVIEWS, body)


def _user(reply: Reply) -> User | Refusal:
    status: JSON = reply.body.get("status") or {}
    if not reply.ok:
        return 503, f"the API server does not say who this is: {reply.reason}"
    # A server without support for audiences would name none: then the token was made for the API server.
    if not status.get("authenticated") or vocabulary.EXTENDER not in (status.get("audiences") or ()):
        return 401, f"this token is not known, or not made for the extender; {NO_TOKEN}"
    user = status.get("user") or {}
    return User(str(user.get("username", "")), str(user.get("uid", "")), tuple(user.get("groups") or ()))


def _access_review(user: User, verb: str, path: str) -> Write:
    spec = {
        "user": user.name,
        "uid": user.uid,
        "groups": list(user.groups),
        "nonResourceAttributes": {"verb": verb, "path": path},
    }
    body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
    return Write("POST", ACCESS_REVIEWS, body)
