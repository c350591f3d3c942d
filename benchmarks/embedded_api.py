"""What the embedded API server costs, as a part of what HTTP itself allows.

Server and client are processes of their own; the server runs the way `gpuyard_cluster.apiserver.http` serves it. A
bare ASGI handler, which reads a request and answers the same number of bytes, is measured in turns with it.
Run as `python -m benchmarks.embedded_api`; `--serve bare|embedded` is the server's side.
"""

import argparse
import asyncio
import itertools
import statistics
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from benchmarks.calls import Connection
from benchmarks.processes import Process, served
from gpuyard_cluster.apiserver import http
from gpuyard_cluster.apiserver.server import APIServer
from gpuyard_cluster.listening import listen

SERVE = ("embedded_api", "--serve")
ROUNDS, REQUESTS = 5, 2000
WATCHERS, EVENTS = 100, 1000
PODS = "/api/v1/namespaces/default/pods"
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


def pod(name: str) -> dict[str, Any]:
    """A pod as a controller makes it."""
    limits = {"cpu": "4", "memory": "16Gi", "nvidia.com/gpu": "1"}
    container = {"name": "main", "image": "busybox:1.36", "resources": {"limits": limits}}
    labels = {"app": "bench", "pod-template-hash": "6c5d8b7f4"}
    return {"metadata": {"name": name, "labels": labels}, "spec": {"containers": [container]}}


async def bare(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Reads a request and answers as many bytes as the embedded server does."""
    more = True
    while more:
        more = (await receive()).get("more_body", False)
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(ANSWER))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": ANSWER})


ANSWER = b"{" + b" " * 1900 + b"}"
"""About as long as such a pod is, with its defaults and managedFields."""


async def serve(what: str) -> None:
    """Serve until the process is ended; the port is printed."""
    server = listen(bare, "bare") if what == "bare" else http.serve(APIServer(time.time))
    print(urlsplit((await server).url).port, flush=True)
    await asyncio.Event().wait()


@dataclass(frozen=True, slots=True)
class Rate:
    """Requests answered in a second, and milliseconds of the server's CPU for one."""

    a_second: float
    cpu: float


def rate(process: Process, connection: Connection, ask: Callable[[int], object]) -> Rate:
    """One round: REQUESTS requests, one after the other."""
    cpu, started = process.cpu_seconds(), time.perf_counter()
    for number in range(REQUESTS):
        ask(number)
    spent = time.perf_counter() - started
    return Rate(REQUESTS / spent, 1000 * (process.cpu_seconds() - cpu) / REQUESTS)


def compared(bare: list[Rate], ours: list[Rate]) -> str:
    """The medians of both, and what part of the bare rate and CPU time ours is."""
    fast, slow = (statistics.median(one.a_second for one in found) for found in (bare, ours))
    cheap, dear = (statistics.median(one.cpu for one in found) for found in (bare, ours))
    return f"{fast:6.0f} | {slow:6.0f} | {slow / fast:4.0%} | {cheap:.3f} | {dear:.3f} | {cheap / dear:4.0%}"


def fan_out(url: str) -> str:
    """WATCHERS watchers see EVENTS events each; how long until the last has the last, and how many were lost."""
    counts = [0] * WATCHERS
    opened = threading.Barrier(WATCHERS + 1)

    def watch(at: int) -> None:
        connection = Connection(url)
        for line in connection.lines(f"{PODS}?watch=true&resourceVersion=0&timeoutSeconds=300", opened.wait):
            counts[at] += b'"name":"w' in line
            if counts[at] == EVENTS:
                break
        connection.close()

    threads = [threading.Thread(target=watch, args=(at,), daemon=True) for at in range(WATCHERS)]
    for thread in threads:
        thread.start()
    opened.wait()
    writer, started = Connection(url), time.perf_counter()
    for number in range(EVENTS):
        writer.post(PODS, pod(f"w{number}"))
    written = time.perf_counter() - started
    for thread in threads:
        thread.join(timeout=60)
    spent = time.perf_counter() - started
    lost = WATCHERS * EVENTS - sum(counts)
    late = f"all there {spent - written:.2f} s after the last write"
    return f"{WATCHERS * EVENTS / spent:.0f} events/s, {late}, {lost} lost"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", choices=("bare", "embedded"))
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve(options.serve))
        return
    with served(*SERVE, "bare") as (bare_url, bare_id), served(*SERVE, "embedded") as (url, pid):
        plain, ours = Connection(bare_url), Connection(url)
        processes = Process(bare_id), Process(pid)
        size = len(ours.post(PODS, pod("one"))[1])
        gets: tuple[list[Rate], list[Rate]] = [], []
        creates: tuple[list[Rate], list[Rate]] = [], []
        numbers = itertools.count()
        for _ in range(ROUNDS):
            gets[0].append(rate(processes[0], plain, lambda _: plain.get(f"{PODS}/one")))
            gets[1].append(rate(processes[1], ours, lambda _: ours.get(f"{PODS}/one")))
            creates[0].append(rate(processes[0], plain, lambda _: plain.post(PODS, pod("two"))))
            creates[1].append(rate(processes[1], ours, lambda _: ours.post(PODS, pod(f"p{next(numbers)}"))))
        print(f"a pod is {size} bytes, the bare answer {len(ANSWER)}")
        print("         bare/s | ours/s | rate | CPU ms, bare | ours | ratio")
        print("GET    ", compared(*gets))
        print("create ", compared(*creates))
    with served(*SERVE, "embedded") as (url, _):
        print("fan-out", fan_out(url))


if __name__ == "__main__":
    main()
