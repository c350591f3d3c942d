"""The verbs over ASGI, in front of the web framework, which takes longer than a decision.

Stands for the web server of a scheduler extender. Laws: a verb always answers 200, because kube-scheduler throws the
body of any other answer away; whatever fails in it is logged once, and told in the words of the protocol.
"""

import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final

import orjson

from gpuyard.policies.installed import PolicyError
from gpuyard_extender import wire
from gpuyard_extender.service import Extender
from gpuyard_extender.transport.asgi import App, Message, Receive, Send
from gpuyard_extender.web.metrics import Metrics

log = logging.getLogger("gpuyard.extender")

BROKEN: Final = "the extender failed; its log says why"


@dataclass(frozen=True, slots=True)
class Verb:
    """What is asked, and what kube-scheduler is told when we fail."""

    name: str
    ask: Callable[[Any], Any]
    broken: Any


class Verbs:
    """The verbs of `extender`; all else is for the ASGI application `app`."""

    def __init__(self, app: App, extender: Extender, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics
        verbs = (
            Verb("filter", extender.filter, wire.filter_error(BROKEN)),
            Verb("prioritize", extender.prioritize, []),
            Verb("preempt", extender.preempt, wire.preempt_result({})),
            Verb("bind", extender.bind, wire.bind_result(BROKEN)),
        )
        self._verbs = {f"/{verb.name}": verb for verb in verbs}

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        verb = self._verbs.get(scope.get("path", ""))
        if verb is None or scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        body = await self._answer(verb, receive)
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, verb: Verb, receive: Receive) -> bytes:
        try:
            asked = _decoded(await _body(receive))
            with self._metrics.timed(verb.name):
                found = verb.ask(asked)
                return orjson.dumps(await found if isinstance(found, Coroutine) else found)
        except PolicyError as fault:  # somebody else's, who looks for a line of theirs
            log.error("%s failed: %s", verb.name, fault)
            return orjson.dumps(verb.broken)
        except Exception:
            log.exception("%s failed", verb.name)
            return orjson.dumps(verb.broken)


async def _body(receive: Receive) -> bytes:
    """What is there of it, where its sender leaves in the middle."""
    parts, more = [], True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(parts)


def _decoded(body: bytes) -> Any:
    """None, which no verb takes for a request, when it is not JSON."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
