"""What gangs cost on the embedded cluster: from the last pod of a round to all of its groups admitted.

    python -m benchmarks.gangs                                     # 2,000 groups of 8, then 20 times one of 512
    python -m benchmarks.gangs --groups 250 500 1000
    python -m benchmarks.gangs --groups 1 --members 512 --nodes 1000 --rounds 20

The whole cluster runs in the process that measures, as in `yard`: every pod is created, admitted, scheduled, given
its devices and run, then all are deleted for the next round. A gang of more than 8 wants all its GPUs in one rack.
"""

import argparse
import asyncio
import gc
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.gang_site import GPUS, SMALL, Site, group, nodes, pod
from benchmarks.sampling import Sampler
from benchmarks.yard import PODS, Reading
from gpuyard import vocabulary
from gpuyard.writes import Write
from gpuyard_cluster.wiring import direct_node
from gpuyard_cluster.wiring.embedded import EmbeddedYard
from gpuyard_operator.objects import groups

LEAST = direct_node.ABOVE + 1
"""So many nodes at least, so that the parts can be told apart by their names."""
COLUMNS = (
    "gangs",
    "nodes",
    "created, s",
    "all admitted, s",
    "p50",
    "p99",
    "first condition, at most, s",
    "writes a member",
    "of all parts",
    "ms of CPU a member",
    "of it",
)


@dataclass(frozen=True, slots=True)
class Course:
    """So many gangs at a time, again and again."""

    gangs: int
    members: int
    nodes: int
    rounds: int


async def follow(course: Course) -> None:
    """The lines of one course: one for each round, where there are few."""
    async with EmbeddedYard(nodes(course.nodes)) as cluster:
        site = Site(cluster)

        async def offered() -> bool:
            found = (await cluster.api.read("/api/v1/nodes")).body["items"]
            return all(node["status"]["allocatable"].get(vocabulary.GPU) == str(GPUS) for node in found)

        while not await offered():
            await asyncio.sleep(1)
        took: list[float] = []
        for number in range(course.rounds):
            took += await once(site, course, f"r{number}")
        if course.rounds > 1:
            print(f"all rounds: admitted after p50 {_part(took, 50):.2f}, p99 {_part(took, 99):.2f} s")


async def once(site: Site, course: Course, prefix: str) -> list[float]:
    """One round; how long each gang took from its last pod until it was admitted."""
    names = [f"{prefix}-{number}" for number in range(course.gangs)]
    site.writes.clear()
    began, complete = Reading.now(), dict[str, float]()
    with Sampler() as sampler:
        for name in names:
            await site.send(Write("POST", groups.path("default"), group(name, course.members)))
            for member in range(course.members):
                await site.send(Write("POST", PODS, pod(f"{name}-{member}", name)))
            complete[name] = site.now()
        created = Reading.now()
        await site.until(lambda: site.seen.admitted.keys() >= set(names))
        await site.until(lambda: len(site.seen.running) == course.gangs * course.members)
    spent, admitted = Reading.now().since(began), site.seen.admitted
    took = [max(0.0, admitted[name] - complete[name]) for name in names]
    late = max(site.seen.told[name] - complete[name] for name in names)
    all_pods, last = course.gangs * course.members, max(complete.values())
    cells = (
        f"{course.gangs} x {course.members}",
        course.nodes,
        f"{created.since(began).wall:.1f}",
        f"{max(admitted[name] for name in names) - last:.2f}",
        *(f"{_part(took, percent):.2f}" for percent in (50, 99)),
        f"{late:.2f}",
        f"{site.writes['gpuyard-operator'] / all_pods:.2f}",
        f"{site.writes.total() / all_pods:.1f}",
        f"{1000 * spent.all / all_pods:.1f}",
    )
    parts = ", ".join(
        f"{part} {1000 * share * spent.main / all_pods:.1f}" for part, share in sampler.shares().items()
    )
    print("| " + " | ".join(map(str, cells)) + f" | {parts} |", flush=True)
    await _cleared(site, names, course.members)
    return took


async def _cleared(site: Site, names: Sequence[str], members: int) -> None:
    for name in names:
        for member in range(members):
            await site.send(Write("DELETE", f"{PODS}/{name}-{member}", {"gracePeriodSeconds": 0}))
        await site.send(Write("DELETE", groups.path("default", name)))
    await site.until(lambda: not site.seen.pods)


def _part(found: Sequence[float], percent: int) -> float:
    return statistics.quantiles(found, n=100, method="inclusive")[percent - 1] if len(found) > 1 else found[0]


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--groups", type=int, nargs="+", default=[], metavar="N")
    parser.add_argument("--members", type=int, default=SMALL)
    parser.add_argument(
        "--nodes", type=int, default=0, help="as many as the pods need, unless said otherwise"
    )
    parser.add_argument("--rounds", type=int, default=1)
    given = parser.parse_args()
    courses = [
        Course(
            count, given.members, given.nodes or max(LEAST, -(-count * given.members // GPUS)), given.rounds
        )
        for count in given.groups
    ]
    gc.set_threshold(100_000, 50, 100)
    print("|", " | ".join(COLUMNS), "|\n" + "|---" * len(COLUMNS) + "|")
    for course in courses or (Course(2000, SMALL, 1000, 1), Course(1, 512, 1000, 20)):
        asyncio.run(follow(course))


if __name__ == "__main__":
    main()
