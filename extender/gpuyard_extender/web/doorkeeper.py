"""Only the active extender answers; the others send the caller to it.

Stands for nothing in Kubernetes: kube-scheduler keeps its connection for as long as the server does, so an extender
that lost the Lease would be asked for ever. A 307 with `Connection: close` costs no scheduling attempt, because Go
repeats the POST there; `Error` costs one, and comes only when nobody gets to know in time who is active.
"""

from typing import Any, Final, Protocol

from gpuyard.verdicts import Reason
from gpuyard_extender import wire
from gpuyard_extender.transport.asgi import App, Header, Message, Receive, Send, answer

_UNKNOWN: Final = Reason.LEADER_UNAVAILABLE.text
_LONG: Final = "/v1/plans"
"""May take seconds; all else that an extender says is there at once, or was written when the Lease was held."""
_ANSWERS: Final[dict[str, tuple[int, Any]]] = {
    "/filter": (200, wire.filter_error(_UNKNOWN)),
    "/prioritize": (200, []),
    "/bind": (200, wire.bind_result(_UNKNOWN)),
    "/preempt": (503, {"error": _UNKNOWN}),  # its result has no field for an error
    _LONG: (503, {"error": _UNKNOWN}),
}
"""What only the active extender may say, and what is said instead when nobody knows it. All else anyone may say."""


class Election(Protocol):
    """Who is active: `gpuyard_extender.leadership.leadership.Leadership`."""

    @property
    def leading(self) -> bool:
        """Whether it is this extender."""

    @property
    def elsewhere(self) -> str:
        """Where it listens otherwise, as host:port; empty when that is unknown."""

    async def settled(self) -> None:
        """Wait, not for long, until it is known who is active."""


class Doorkeeper:
    """The ASGI application `app`, behind the election."""

    def __init__(self, app: App, election: Election) -> None:
        self._app, self._election = app, election

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] in _ANSWERS:
            await self._election.settled()
            if not self._election.leading:
                await self._send_on(scope, send)
                return
            send = self._unless_lost(scope, send) if scope["path"] == _LONG else send
        await self._app(scope, receive, send)

    def _unless_lost(self, scope: Message, send: Send) -> Send:
        """What was found while the Lease was lost is not told: the next extender does not hold those places."""
        lost = False

        async def forward(message: Message) -> None:
            nonlocal lost
            if message["type"] == "http.response.start" and not self._election.leading:
                lost = True
                await self._send_on(scope, send)
            if not lost:
                await send(message)

        return forward

    async def _send_on(self, scope: Message, send: Send) -> None:
        status, content = _ANSWERS[scope["path"]]
        headers: list[Header] = []
        if self._election.elsewhere:
            status = 307
            # In TLS where we were asked in TLS: all extenders of a cluster are alike.
            place = f"{scope['scheme']}://{self._election.elsewhere}{scope['path']}"
            headers.append((b"location", place.encode()))
        await answer(send, status, content, headers)
