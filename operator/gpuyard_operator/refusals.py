"""What is remembered of a group that was refused, and what has come since that could make it another answer.

Stands for the queueing hints that kube-scheduler asks for an unschedulable pod. A refusal is remembered with the
change as of which it was given: room that came later, or so shortly before that the extender may not have seen it, is
room while one of the members could take it. Laws: what others took meanwhile is none, so that of many who wait for
the same only those ask who come to it in time; what sums cannot say counts as yes.

    since the refusal                                                  it is asked for again
    a node offers something else                                       yes: also to tell what is lacking now
    pods ended, or places were given up, where no member can go now    no
      where one can, and all that is left could be enough              yes
      (of pods that may have to go for it what they hold is left)
    the same elsewhere, and one could go where such pods are           yes, but no more often than every 5 s: budgets,
                                                                       which say who may go, change unseen
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from gpuyard.groups.plans import Unplaceable
from gpuyard_operator.cache import Cache
from gpuyard_operator.deciding.asking import Answered
from gpuyard_operator.objects.groups import Key
from gpuyard_operator.queues import workloads
from gpuyard_operator.queues.workloads import Rank
from gpuyard_operator.room.demands import Demand
from gpuyard_operator.room.queueing_hints import Opening, ends_help

BUDGET_SECONDS: Final = 5.0
"""So seldom a group asks whether others may go for it, when something ended that is no room for it."""


@dataclass(slots=True)
class Refusal:
    """`demands` are what was asked for in vain, None where sums do not say. The last was put as of `change`."""

    rank: Rank
    demands: tuple[Demand, ...] | None
    ends_help: bool
    change: int
    at: float
    """When that was answered."""
    spared_at: float
    """When it was answered last that nobody can go for it."""
    opened: Opening = field(default_factory=Opening)
    """The last change for which the group looks again."""


def read(key: Key, refused: Sequence[Answered], opened: Opening, cache: Cache) -> Refusal:
    """The refusal of a group by these answers, the last one last. `opened` is what it has looked for."""
    demands = [cache.demand(found.request) for found in refused]
    known = tuple(found for found in demands if found is not None)
    return Refusal(
        workloads.rank(key, cache.group(key), cache.pods(key)),
        known if len(known) == len(demands) else None,
        any(ends_help(found.request, found.answer) for found in refused),
        refused[-1].change,
        refused[-1].at,
        max((found.at for found in refused if found.request.preempt), default=0.0),
        opened,
    )


def refused(answers: Iterable[Answered]) -> list[Answered]:
    """Those that say that there is no room."""
    return [found for found in answers if isinstance(found.answer, Unplaceable)]


def may_help(found: Refusal, nodes: Collection[str], cache: Cache) -> bool:
    """Whether anything that has ended on these nodes is a reason to look again, when its turn comes."""
    if found.demands is None or _floor(found.demands, cache) is not None:
        return True
    room = cache.headroom.room()
    return any(room.may_help(demand, nodes) and room.may_do(demand) for demand in found.demands)


def may_start(found: Refusal, nodes: Collection[str], cache: Cache, now: float) -> bool:
    """Whether the group could be let in now, by all that came on these nodes since it was refused."""
    if found.demands is None:
        return True
    headroom, floor = cache.headroom, _floor(found.demands, cache)
    room, where = headroom.room(floor), {*nodes}
    if floor is not None and now >= found.spared_at + BUDGET_SECONDS:
        where |= headroom.below(floor)
    return any(room.may_help(demand, where) and room.may_do(demand) for demand in found.demands)


def _floor(demands: Iterable[Demand], cache: Cache) -> int | None:
    """The priority below which what others hold might be made free for it; None where nothing is."""
    lowest, priority = cache.victims.lowest, max((demand.priority for demand in demands), default=0)
    return priority if lowest is not None and priority > lowest else None
