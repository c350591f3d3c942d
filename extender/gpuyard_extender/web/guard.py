"""Who may ask the extender what.

Stands for the authentication and authorization filters of a Kubernetes server. Law: what is not named as open is
closed, so that a verb that is added is guarded as well.

    path                            who may ask
    /livez /readyz /metrics         everyone: they say nothing about pods
    /v1/...  /ui  /ui/...           whose token the API server knows, and who may ask this by its rules (`reviews`);
                                    a browser's token may be in a cookie, for /ui alone (`ui.sessions`)
    /ui/session                     everyone: it is where a browser gives its token
    all else: the verbs             with `--client-ca` whoever shows a certificate of that authority, else everyone
"""

from collections.abc import Awaitable
from typing import Final, Protocol

from gpuyard import vocabulary
from gpuyard_extender.transport import attempts
from gpuyard_extender.transport.asgi import App, Message, Receive, Send, answer
from gpuyard_extender.web.ui import sessions

_PAGE: Final = ("/ui", "/ui/")
OPEN: Final = frozenset({"/livez", "/readyz", "/metrics"})
TOKEN_HEADER: Final = vocabulary.TOKEN_HEADER.lower().encode()

CHALLENGES: Final = {
    401: [(b"www-authenticate", b"Bearer")],
    429: [(b"retry-after", b"%d" % attempts.SECONDS)],
}
"""What a client is told beside the status."""
Refusal = tuple[int, str]
"""HTTP status, and why."""


class Reviewer(Protocol):
    """Who a token belongs to, and what they may: `gpuyard_extender.web.reviews.Reviews`."""

    async def refusal(self, token: str, address: str, verb: str, path: str) -> Refusal | None:
        """None when its owner may do this. `address` is where it comes from."""


class Guard:
    """The ASGI application `app`, behind these rules. Without a reviewer /v1 and /ui are open as well."""

    def __init__(self, app: App, reviewer: Reviewer | None = None, *, certificates: bool = False) -> None:
        self._app, self._reviewer, self._certificates = app, reviewer, certificates

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        path, reviewer = str(scope["path"]), self._reviewer
        if path == sessions.PATH and reviewer is not None:

            def check(token: str) -> Awaitable[Refusal | None]:
                return reviewer.refusal(token, _address(scope), "get", "/ui/")

            await sessions.sign_in(scope, receive, send, check)
            return
        refusal = await self._refusal(scope)
        if refusal is None:
            await self._app(scope, receive, send)
            return
        status, why = refusal
        if path in _PAGE and scope["method"] == "GET":
            await sessions.ask(send, status, why if _token(scope) else "")
            return
        await answer(send, status, {"error": why}, CHALLENGES.get(status, ()))

    async def _refusal(self, scope: Message) -> Refusal | None:
        path = str(scope["path"])
        if path in OPEN:
            return None
        if f"{path}/".startswith(("/v1/", "/ui/")):
            if self._reviewer is None:
                return None
            verb = str(scope["method"]).lower()
            return await self._reviewer.refusal(_token(scope), _address(scope), verb, path)
        shown = (scope.get("extensions") or {}).get("tls", {}).get("client_cert_chain")
        if self._certificates and not shown:
            return 403, "a client certificate is needed: tlsConfig in the scheduler's configuration names it"
        return None


def _address(scope: Message) -> str:
    return str((scope.get("client") or ("",))[0])


def _token(scope: Message) -> str:
    """The bearer's token. Our own header is for the API server's proxy, which takes `Authorization` for itself."""
    headers = dict(scope["headers"])
    own = headers.get(TOKEN_HEADER, b"").decode("latin-1")
    kind, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    shown = own or (token.strip() if kind.lower() == "bearer" else "")
    return shown or (sessions.token(scope) if str(scope["path"]).startswith("/ui/") else "")
