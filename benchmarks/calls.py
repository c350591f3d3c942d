"""A client for measuring: one connection, requests as bytes, nothing between the clock and the socket."""

import itertools
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

import orjson


class Connection:
    """One kept-alive HTTP connection."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._host = f"{parts.hostname}:{parts.port}"
        self._socket = socket.create_connection((parts.hostname, parts.port), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def post(self, path: str, content: Any) -> tuple[float, bytes]:
        """Seconds until the whole answer is there, and the answer."""
        body = orjson.dumps(content)
        head = f"POST {path} HTTP/1.1\r\nHost: {self._host}\r\nContent-Type: application/json\r\n"
        request = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
        started = time.perf_counter()
        self._socket.sendall(request)
        answer = self._answer()
        return time.perf_counter() - started, answer

    def get(self, path: str) -> tuple[float, bytes]:
        """Seconds until the whole answer is there, and the answer."""
        request = f"GET {path} HTTP/1.1\r\nHost: {self._host}\r\n\r\n".encode()
        started = time.perf_counter()
        self._socket.sendall(request)
        answer = self._answer()
        return time.perf_counter() - started, answer

    def lines(self, path: str, opened: Callable[[], object]) -> Iterator[bytes]:
        """What a watch says, line by line; `opened` is called when it has answered."""
        self._socket.sendall(f"GET {path} HTTP/1.1\r\nHost: {self._host}\r\n\r\n".encode())
        received = self._receive()
        while b"\r\n\r\n" not in received:
            received += self._receive()
        opened()
        rest = received.partition(b"\r\n\r\n")[2]
        while True:
            *whole, rest = rest.split(b"\n")
            yield from whole
            rest += self._receive()

    def close(self) -> None:
        self._socket.close()

    def _answer(self) -> bytes:
        received = self._receive()
        while b"\r\n\r\n" not in received:
            received += self._receive()
        head, _, body = received.partition(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        parts, count = [body], len(body)
        while count < length:
            parts.append(self._receive())
            count += len(parts[-1])
        return b"".join(parts)

    def _receive(self) -> bytes:
        received = self._socket.recv(1 << 20)
        if not received:
            raise ConnectionError("the server closed the connection")
        return received


def per_second(url: str, requests: Sequence[tuple[str, Any]], connections: int) -> tuple[float, int]:
    """How many of `requests` (path, content) are answered a second over so many connections, and how many failed."""
    left = itertools.islice(iter(requests), None)
    taking = threading.Lock()
    failed: list[bytes] = []

    def work() -> None:
        connection = Connection(url)
        while True:
            with taking:
                request = next(left, None)
            if request is None:
                break
            answer = connection.post(*request)[1]
            if b'"Error":""' not in answer and answer != b"{}":
                failed.append(answer)
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(connections)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(requests) / (time.perf_counter() - started), len(failed)


def percentile(seconds: Sequence[float], part: float) -> float:
    """In milliseconds."""
    ordered = sorted(seconds)
    return 1000 * ordered[min(len(ordered) - 1, int(part * len(ordered)))]
