"""What the extender was asked for, as counts: the members with devices, those that are alike together.

Stands for what NodeResourcesFit keeps of a pod in its cycle state.
"""

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from gpuyard.groups.plans import PlanRequest
from gpuyard.pods.fit import PodFit
from gpuyard.pods.requests import is_device_resource
from gpuyard_operator.objects.pods import PodFacts


@dataclass(frozen=True, slots=True)
class Kind:
    """So many `members` that are alike; each asks for `count` devices of `resource`, and for what its fit says."""

    fit: PodFit
    wishes: Hashable
    """Those of the fit: who wishes the same may go to the same nodes."""
    resource: str
    count: int
    members: int


@dataclass(frozen=True, slots=True)
class Demand:
    """`needed` of the members need room together, within one domain where there is a `label` for it."""

    kinds: tuple[Kind, ...]
    needed: int
    label: str = ""
    has_others: bool = False
    """Whether there are members without devices, too."""
    priority: int = 0
    """That of the most urgent member."""


def read(request: PlanRequest, pod: Callable[[str], PodFacts | None]) -> Demand | None:
    """The demand of a question about pods by their UIDs; None where it cannot be said by counts."""
    alike, fits, priorities = Counter[object](), dict[object, PodFit](), set[int]()
    try:
        for found in (pod(uid) for uid in request.members):
            if found is None or found.obj is None:
                return None
            priorities.add(found.priority)
            wants = PodFit.of(found.obj)
            kind = (wants.wishes, frozenset(wants.requests.items()))
            alike[kind] += 1
            fits[kind] = wants
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    each = (_kind(fits[key], members) for key, members in alike.items())
    kinds = tuple(one for one in each if one is not None)
    others = len(request.members) - sum(kind.members for kind in kinds)
    near = request.nearness
    label = near.domain.label if near is not None and near.required else ""
    return Demand(kinds, request.needed - others, label, others > 0, max(priorities, default=0))


def _kind(wants: PodFit, members: int) -> Kind | None:
    """None where they ask for no devices."""
    counts = sorted(
        (resource, n) for resource, n in wants.requests.items() if n and is_device_resource(resource)
    )
    return Kind(wants, wants.wishes, *counts[0], members) if counts else None
