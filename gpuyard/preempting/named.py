"""Which of the victims that kube-scheduler named for a node have to go, whatever becomes of its devices.

Stands for what SelectVictimsOnNode knows and an extender does not: its filters. Each of those whom it names was left
over when everybody who could stay stayed, so each is in the way of something. Law: one may stay only if it is shown
that amounts are what it is in the way of, and that no filter that looks at two pods can have named it besides: an
unknown reason is a reason.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gpuyard.pods import neighbours
from gpuyard.pods.fit import Amounts
from gpuyard.pods.neighbours import Neighbour


@dataclass(frozen=True, slots=True)
class Named:
    """A pod that was named. `neighbour` None: nobody knows what it is like."""

    uid: str
    booked: Amounts
    neighbour: Neighbour | None


def must_go(requests: Amounts, pod: Neighbour, left: Amounts, named: Sequence[Named]) -> Iterable[Named]:
    """Those of them who have to go for a pod that wants these amounts, of which `left` are free with them all."""
    freed = sum((Counter(found.booked) for found in named), Counter[str]())
    for found in named:
        others = {name: left.get(name, 0) + freed[name] - n for name, n in found.booked.items()}
        counted = any(requests.get(name, 0) > there for name, there in others.items())
        known = found.neighbour
        if known is None or not counted or neighbours.may_exclude(pod, known):
            yield found
