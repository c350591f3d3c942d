"""What it costs the gang operator to let many gangs in: without queues, in one, in ten, with quota for half of them.

    python -m benchmarks.gang_queues
    python -m benchmarks.gang_queues --groups 500 1000 2000

Operator and API server run in this process on a clock that stands still; who plans has room for everybody, and nobody
binds. Time is processor time from when all pods are there until nothing is left to do, the API server's apart.
"""

import argparse
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from gpuyard import vocabulary
from gpuyard.groups import queues
from gpuyard.groups.plans import PlanAnswer, Planned, PlanRequest
from gpuyard.groups.reservations import Reservation, Seat
from gpuyard.writes import JSON, Reply, Write
from gpuyard_cluster.apiserver.direct import DirectApi, feed
from gpuyard_cluster.apiserver.server import APIServer
from gpuyard_cluster.clock import Steps
from gpuyard_cluster.wiring import manifests
from gpuyard_operator.cache import PATHS
from gpuyard_operator.objects import groups
from gpuyard_operator.service import Operator

MEMBERS = 8
NEVER_SECONDS = 1e6


@dataclass(frozen=True, slots=True)
class Course:
    """How many queues there are, and for which part of the groups they have quota."""

    name: str
    queues: int = 0
    part: float = 1.0


COURSES = (
    Course("no queue"),
    Course("one queue", 1),
    Course("ten queues", 10),
    Course("quota for half", 1, 0.5),
)


class Site:
    """An API server and an operator that has not been told of anything yet."""

    def __init__(self) -> None:
        self.clock, self.writes, self.gates, self.serving = Steps(), 0, 0, 0.0
        self.events: deque[Callable[[], None]] = deque()
        self.api = DirectApi(APIServer(self.clock.now))
        self.clock.complete(manifests.install(self.api))
        self.create("/api/v1/nodes", {"metadata": {"name": "node"}})

    async def plan(self, request: PlanRequest) -> PlanAnswer:
        seats = tuple(Seat(uid, uid, "node", {}) for uid in request.members)
        expires = self.clock.now() + NEVER_SECONDS
        return Planned(Reservation(request.namespace, request.group, request.needed, expires, seats))

    async def send(self, write: Write) -> Reply:
        self.writes += 1
        self.gates += "schedulingGates" in str(write.body)
        began = time.process_time()
        reply = await self.api.send(write)
        self.serving += time.process_time() - began
        return reply

    async def read(self, path: str, **query: str) -> Reply:
        return await self.api.read(path, **query)

    def create(self, path: str, obj: JSON) -> None:
        reply = self.clock.complete(self.api.send(Write("POST", path, obj)))
        assert reply.ok, reply.reason

    def fill(self, count: int, course: Course) -> None:
        """The queues and the groups with their pods."""
        for number in range(course.queues):
            quota = {vocabulary.GPU: round(count * MEMBERS * course.part / course.queues)}
            kind = {"apiVersion": f"{vocabulary.GROUP}/{vocabulary.VERSION}", "kind": "Queue"}
            self.create(queues.PATH, {**kind, "metadata": {"name": f"q{number}"}, "spec": {"quota": quota}})
        limits = {"resources": {"limits": {vocabulary.GPU: "1"}}}
        spec = {"containers": [{"name": "main", "image": "busybox:1.36", **limits}]}
        for number in range(count):
            name = f"g{number:05}"
            notes = {vocabulary.QUEUE: f"q{number % course.queues}"} if course.queues else {}
            group = {
                "apiVersion": vocabulary.POD_GROUP_API,
                "kind": "PodGroup",
                "spec": {"minMember": MEMBERS},
            }
            self.create(groups.path("default"), {**group, "metadata": {"name": name, "annotations": notes}})
            for member in range(MEMBERS):
                metadata = {"name": f"{name}-{member}", "labels": {vocabulary.POD_GROUP: name}}
                self.create("/api/v1/namespaces/default/pods", {"metadata": metadata, "spec": spec})


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--groups", type=int, nargs="+", default=[500, 1000, 2000], metavar="N")
    columns = (
        "course",
        "groups",
        "let in",
        "ms a group",
        "API server",
        "reconciles a group",
        "writes a member",
    )
    print("|", " | ".join(columns), "|\n" + "|---" * len(columns) + "|")
    for count in parser.parse_args().groups:
        for course in COURSES:
            print(measured(count, course), flush=True)


def measured(count: int, course: Course) -> str:
    """One line of it."""
    site = Site()
    site.fill(count, course)
    operator = Operator(site, site.clock, site)
    began = time.process_time()
    feed(site.api.server, operator, PATHS, lambda _name, call: site.events.append(call))
    while site.events or site.clock.step() is not None:
        while site.events:
            site.events.popleft()()
    spent = time.process_time() - began - site.serving
    each = [f"{seconds / count * 1000:.1f}" for seconds in (spent, site.serving)]
    turns, writes = operator.tally.reconciles / count, site.writes / count / MEMBERS
    cells = (course.name, count, site.gates // MEMBERS, *each, f"{turns:.1f}", f"{writes:.2f}")
    return "| " + " | ".join(map(str, cells)) + " |"


if __name__ == "__main__":
    main()
