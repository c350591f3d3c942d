"""How long the gang operator takes to know a cluster that is there already, as its command runs it.

    python -m benchmarks.operator_start
    python -m benchmarks.operator_start --pods 5000 10000 20000

The embedded API server, in a process of its own, holds so many pods: of ten, eight are a gang that runs, one belongs
to nobody, and one is the only member of a gang that waits for seven more. From when it leads on, `ready` is when
/readyz says so, `all told` when every group says how it is: at the `first` start nobody has said so yet, then it is
killed and started `again`, and leads once the Lease has run out.
"""

import argparse
import asyncio
import gc
import time
from collections.abc import Callable, Iterator
from urllib.error import URLError
from urllib.request import urlopen

from benchmarks import processes
from benchmarks.gang_site import group, pod
from benchmarks.yard import PODS
from gpuyard import vocabulary
from gpuyard.writes import JSON, PatchType, Write
from gpuyard_cluster.apiserver import http
from gpuyard_cluster.apiserver.direct import DirectApi
from gpuyard_cluster.apiserver.server import APIServer
from gpuyard_cluster.wiring import manifests
from gpuyard_operator.objects import groups

MEMBERS, NODES = 8, 1000
PATIENCE_SECONDS, LOOK_SECONDS = 600, 0.1
GROUPS = f"/apis/{vocabulary.POD_GROUP_API}/podgroups"


class Site:
    """An API server that fills."""

    def __init__(self) -> None:
        self.server = APIServer(time.time)
        self.api = DirectApi(self.server)

    async def send(self, write: Write) -> None:
        reply = await self.api.send(write)
        assert reply.ok, reply.reason

    async def fill(self, pods: int) -> None:
        await manifests.install(self.api)
        await self.send(Write("POST", "/api/v1/namespaces", {"metadata": {"name": vocabulary.NAMESPACE}}))
        for number in range(NODES):
            await self.send(Write("POST", "/api/v1/nodes", {"metadata": {"name": f"node-{number}"}}))
        for number in range(pods // 10):
            await self._gang(f"runs-{number}", MEMBERS, f"node-{number % NODES}")
            await self.send(Write("POST", PODS, _alone(f"alone-{number}")))
            await self._gang(f"waits-{number}", 1, "")

    async def _gang(self, name: str, there: int, node: str) -> None:
        await self.send(Write("POST", groups.path("default"), group(name, MEMBERS)))
        for member in range(there):
            await self._member(pod(f"{name}-{member}", name), node)

    async def _member(self, made: JSON, node: str) -> None:
        await self.send(Write("POST", PODS, made))
        path = f"{PODS}/{made['metadata']['name']}"
        if node:
            no_gates: JSON = {"spec": {"schedulingGates": []}}
            await self.send(Write("PATCH", path, no_gates, PatchType.MERGE))
            target = {"kind": "Node", "name": node}
            await self.send(
                Write(
                    "POST",
                    f"{path}/binding",
                    {"metadata": {"name": made["metadata"]["name"]}, "target": target},
                )
            )
            await self.send(
                Write("PATCH", f"{path}/status", {"status": {"phase": "Running"}}, PatchType.MERGE)
            )


def _alone(name: str) -> JSON:
    made = pod(name, "")
    del made["metadata"]["labels"]
    return made


async def serve(pods: int) -> None:
    """Until the process is ended; prints the port once all is there."""
    site = Site()
    await site.fill(pods)
    gc.freeze()
    listener = await http.serve(site.server)
    print(listener.url.rpartition(":")[2], flush=True)
    await asyncio.Event().wait()


def measured(pods: int) -> Iterator[str]:
    """The lines of the table for so many pods."""
    with processes.served("operator_start", "--serve", str(pods)) as (api, _):
        for which in ("first", "again"):
            with processes.operator(api) as (url, pid):
                began = _until(lambda: b"_leading 1.0" in _read(f"{url}/metrics"))
                ready = _until(lambda: b"ok" in _read(f"{url}/readyz")) - began
                told = _until(lambda: _read(f"{api}{GROUPS}").count(b'"Scheduled"') >= pods // 5) - began
                used = processes.Process(pid)
                times = ready, told, used.cpu_seconds()
                cells = (
                    str(pods),
                    which,
                    *(f"{seconds:.1f} s" for seconds in times),
                    f"{used.megabytes()[1]} MB",
                )
            yield "| " + " | ".join(cells) + " |"


def _until(holds: Callable[[], bool]) -> float:
    """The moment from which on it holds."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not so after {PATIENCE_SECONDS} s")
        time.sleep(LOOK_SECONDS)
    return time.monotonic()


def _read(url: str) -> bytes:
    try:
        with urlopen(url) as answer:
            found: bytes = answer.read()
            return found
    except URLError:  # not there yet, or not ready
        return b""


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pods", type=int, nargs="+", default=[20_000], metavar="N")
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve is not None:
        asyncio.run(serve(given.serve))
        return
    print("| pods | start | ready | all told | CPU of the operator | at most |\n" + "|---" * 6 + "|")
    for pods in given.pods:
        for line in measured(pods):
            print(line, flush=True)


if __name__ == "__main__":
    main()
