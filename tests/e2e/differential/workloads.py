"""Nodes and pods that a number stands for: equal numbers, equal workloads.

Four of ten kinds of nodes (whole GPUs with and without NVSwitch, MIG instances, shares), with little CPU on some, and
pods that come one by one and leave in any order. They ask for more than there is, so that some find no place.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks import clusters
from gpuyard import vocabulary
from gpuyard.writes import JSON

NAMESPACE = "differential"
MOVES = 18
CPUS = (8, 16, 64)
WHOLE = tuple((vocabulary.GPU, count) for count in (1, 1, 2, 3, 4, 8))
PARTS = (
    (vocabulary.GPU_SHARED, 1),
    (vocabulary.mig_resource("1g.5gb"), 1),
    (vocabulary.mig_resource("1g.5gb"), 2),
    (vocabulary.mig_resource("3g.20gb"), 1),
)
WISHES: tuple[dict[str, str], ...] = (
    {},
    {},
    {vocabulary.TOPOLOGY: "same-numa"},
    {vocabulary.TOPOLOGY: "same-switch", vocabulary.TOPOLOGY_POLICY: "preferred"},
    {vocabulary.TOPOLOGY: "nvlink"},
    {vocabulary.GPU_MODEL: "H100"},
)
LIMITS: tuple[dict[str, str], ...] = (
    {},
    {vocabulary.GPU_MILLI: "700"},
    {vocabulary.GPU_MEMORY: "30Gi"},
    {vocabulary.GPU_MILLI: "100", vocabulary.GPU_MEMORY: "500Gi"},
)


@dataclass(frozen=True)
class Leaving:
    """A pod is deleted, if it ever found a place."""

    name: str


@dataclass(frozen=True)
class Workload:
    nodes: Sequence[JSON]
    moves: Sequence[JSON | Leaving]
    """Pods that come, and pods that leave."""


def workload(number: int) -> Workload:
    draw = random.Random(number)
    nodes = draw.sample(clusters.Cluster(10, 0).nodes, 4)
    return Workload([clusters.made_up(node, draw.choice(CPUS)) for node in nodes], list(_moves(draw)))


def _moves(draw: random.Random) -> Iterator[JSON | Leaving]:
    there: list[str] = []
    for number in range(MOVES):
        if there and draw.random() < 0.25:
            yield Leaving(there.pop(draw.randrange(len(there))))
        else:
            there.append(f"pod-{number}")
            yield _pod(there[-1], draw)


def _pod(name: str, draw: random.Random) -> JSON:
    containers = 1 if draw.random() < 0.8 else 2
    wishes = draw.choice(WISHES)
    asked = [draw.choice(WHOLE if wishes else WHOLE + PARTS) for _ in range(containers)]
    limits = draw.choice(LIMITS) if asked == [(vocabulary.GPU_SHARED, 1)] else {}
    return {
        "metadata": {"name": name, "annotations": {**wishes, **limits}},
        "spec": {
            "terminationGracePeriodSeconds": 0,
            **clusters.ONLY_THERE,
            "containers": [_container(f"c{n}", *each, draw) for n, each in enumerate(asked)],
        },
    }


def _container(name: str, resource: str, count: int, draw: random.Random) -> JSON:
    limits = {resource: str(count), "cpu": str(draw.choice((1, 2, 4))), "memory": "1Gi"}
    return {"name": name, "image": "busybox:1.36", "resources": {"limits": limits}}
