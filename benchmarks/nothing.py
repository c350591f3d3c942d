"""A scheduler extender that passes every node and likes them all alike: what the protocol itself costs.

It answers /filter and /prioritize; kube-scheduler binds by itself. `python -m benchmarks.nothing` prints its port.
"""

import socket
from typing import Any

import orjson
import uvicorn


async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """ASGI."""
    parts, more = [], True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    names = orjson.loads(b"".join(parts))["NodeNames"]
    answer: Any = [{"Host": name, "Score": 0} for name in names]
    if scope["path"] == "/filter":
        answer = {"NodeNames": names}
    body = orjson.dumps(answer)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def main() -> None:
    """Serve until the process is ended."""
    # asyncio turns Nagle's algorithm off only where the protocol is named: each answer would wait 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    config = uvicorn.Config(application, lifespan="off", access_log=False, log_level="error")
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
