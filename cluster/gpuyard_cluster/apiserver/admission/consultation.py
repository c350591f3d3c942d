"""What one request asks of webhooks, and what they said.

Stands for the dispatchers' HTTP calls in kube-apiserver. Law: the core never waits. A write that needs a webhook's
word ends with `AwaitedError` before anything is stored; a shell calls, tells the consultation, and hands the request
in again, which then runs from its start on the newest state. So a write still happens in one piece, and where its
object has changed meanwhile, the webhook is asked about that.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a webhook: POST `review` to `url`, connecting to `address` if that is given (host, port).

    `authority` is the caBundle in PEM; without one the machine's own authorities count.
    """

    webhook: str
    url: str
    seconds: int
    review: bytes
    authority: str = ""
    address: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """Why a webhook gave no usable answer."""

    why: str


Answer = bytes | Failed
"""The body of a webhook's answer, or why there is none."""
Ask = Callable[[Sequence[Call]], list[Answer]]
"""How admission calls webhooks, all of them at once; it may raise AwaitedError."""
Webhooks = Callable[[Call], Awaitable[Answer]]
"""The port through which a shell calls one webhook."""


class AwaitedError(Exception):
    """The request cannot go on before these calls are answered; nothing has been stored."""

    def __init__(self, calls: Sequence[Call]) -> None:
        super().__init__(f"webhooks to call: {', '.join(call.webhook for call in calls)}")
        self.calls = tuple(calls)


def cannot_ask(calls: Sequence[Call]) -> list[Answer]:
    """The port of a server without a network: every call fails, and failurePolicy decides what that means."""
    return [
        Failed("this embedded API server is called without a network and calls no webhooks") for _ in calls
    ]


@dataclass(slots=True)
class Consultation:
    """One request from its first try to its last. `now` and `seed` stay the same, so that each try makes the same
    object and webhooks are not asked again about their own request."""

    now: float
    seed: int
    warnings: list[str] = field(default_factory=list)
    """What webhooks want the client to be told, in the last try."""
    _answers: dict[Call, Answer] = field(default_factory=dict)

    @property
    def begun(self) -> bool:
        """Whether this is not the first try."""
        return bool(self._answers)

    def ask(self, calls: Sequence[Call]) -> list[Answer]:
        """The answers to `calls`; AwaitedError as long as some are missing."""
        if missing := [call for call in calls if call not in self._answers]:
            raise AwaitedError(missing)
        return [self._answers[call] for call in calls]

    def tell(self, answers: Mapping[Call, Answer]) -> None:
        """Remember what webhooks said."""
        self._answers.update(answers)
