"""The words of ASGI, and a plain JSON answer in them."""

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

import orjson

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]
Header = tuple[bytes, bytes]


async def answer(send: Send, status: int, content: Any, headers: Sequence[Header] = ()) -> None:
    """Answer in place of the application, and end the connection."""
    always = [(b"content-type", b"application/json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": [*always, *headers]})
    await send({"type": "http.response.body", "body": orjson.dumps(content)})
