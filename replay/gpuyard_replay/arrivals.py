"""Which pods come, in which order, and the order in which equally good nodes are taken.

Stands for the workload construction of the paper's simulator: all pods in random order; then, up to the wanted part
of all GPUs, clones of pods drawn at random; where the trace asks for more than that, random pods are left out.
"""

import random
from collections.abc import Sequence
from typing import Protocol, TypeVar

from gpuyard_replay.traces import InvalidTraceError, Order, TraceNode, TracePod


class Asking(Protocol):
    """A pod, or several that come together."""

    @property
    def milli(self) -> int: ...

    @property
    def gpu_milli(self) -> int: ...


_Asking = TypeVar("_Asking", bound=Asking)


def draw(
    pods: Sequence[_Asking], nodes: Sequence[TraceNode], seed: int, limit: int
) -> tuple[list[_Asking], list[int]]:
    """Arrivals that ask for `limit` GPU thousandths in all, and the rank of each node."""
    generator = random.Random(seed)
    arrivals = list(pods)
    generator.shuffle(arrivals)
    asked = sum(pod.gpu_milli for pod in arrivals)
    if asked > limit:
        while asked > limit:
            asked -= arrivals.pop(generator.randrange(len(arrivals))).gpu_milli
    else:
        # What one GPU of the clone is asked for decides, not what all are: so it is in the published workloads.
        while asked + (clone := generator.choice(pods)).milli <= limit:
            arrivals.append(clone)
            asked += clone.gpu_milli
    ranks = list(range(len(nodes)))
    generator.shuffle(ranks)
    return arrivals, ranks


def ordered(
    order: Order, pods: Sequence[TracePod], nodes: Sequence[TraceNode]
) -> tuple[list[TracePod], list[int]]:
    """The same as an order has it; a clone repeats its original's name."""
    by_name = {pod.name: pod for pod in pods}
    unknown = [name for name in order.pods if name not in by_name]
    unknown += [node.name for node in nodes if node.name not in order.ranks]
    if unknown:
        raise InvalidTraceError(
            "the order", f"trace and order differ on {unknown[0]}", "give those that belong together"
        )
    return [by_name[name] for name in order.pods], [order.ranks[node.name] for node in nodes]
