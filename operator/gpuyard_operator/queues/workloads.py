"""What one pod group holds of its queue and wants of it, read from the objects.

Stands for the Workload of Kueue, without an object of its own: nothing is remembered that the API does not say. A
group names its queue by an annotation or a label; where its client passes none on, the first of its pods that does.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gpuyard.groups import queues, reservations
from gpuyard.groups.queues import Queue, turn
from gpuyard.pods.amounts import Amounts
from gpuyard.pods.phases import ENDED
from gpuyard.verdicts import SCHEDULED, Reason
from gpuyard.writes import JSON
from gpuyard_kube.timestamps import seconds
from gpuyard_operator.deciding.gang import Gang, members_of
from gpuyard_operator.deciding.view import View
from gpuyard_operator.objects import groups, members
from gpuyard_operator.objects.groups import Key
from gpuyard_operator.objects.members import Member

HEAD_SECONDS: Final = 3600.0
"""For so long after a group in line was first refused for want of room nobody behind it takes what it could use.

Long enough for most jobs to end and make that room; then it is overtaken, for it may never fit.
"""

Rank = tuple[int, int, Key]
"""The place in a line: the lowest is first."""

MOST_KNOWN: Final = 100_000
"""So many are remembered; then all are read anew."""


@dataclass(frozen=True, slots=True)
class Workload:
    """What the queue `queue` is to give to a group. `rank` is its place in the line, the lowest first."""

    key: Key
    queue: str
    rank: Rank
    holds: Amounts
    waiting: tuple[tuple[str, Amounts], ...] = ()
    """UID of each member that waits, while the group is in line, and what it asks of what has a quota: groups that
    differ in nothing else are alike. All that can start is there."""
    needed: int = 1
    kinds: frozenset[tuple[str, str]] = frozenset()
    """Which GPUs its waiting members want: see `queues.kinds`."""
    firm_until: float = math.inf
    """Until when nobody behind it may get in its way."""
    least: Amounts = field(init=False)
    """What the fewest members need that can start."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "least", _sum(amounts for _, amounts in self.waiting[: self.needed]))


@dataclass(frozen=True, slots=True)
class About:
    """What else has to be known: a queue by its name, and the model of a node's GPUs."""

    queue: Callable[[str], Queue | None]
    product: Callable[[str], str | None]
    _known: dict[tuple[Any, ...], Any] = field(default_factory=dict)

    def demand(self, pod: JSON, models: tuple[str, ...], node: str = "") -> Amounts:
        """`queues.demand` of a pod, on that node if any."""
        product = self.product(node)
        found: Amounts = self._once(pod, queues.demand, models, product)
        return found

    def kinds(self, pod: JSON) -> frozenset[tuple[str, str]]:
        """`queues.kinds` of a pod."""
        found: frozenset[tuple[str, str]] = self._once(pod, queues.kinds)
        return found

    def _once(self, pod: JSON, ask: Callable[..., Any], *more: object) -> Any:
        """A pod is read once for as long as its spec stays what it is."""
        metadata = pod["metadata"]
        key = (metadata.get("uid"), metadata.get("generation"), ask, *more)
        if key not in self._known:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[key] = ask(pod, *more)
        return self._known[key]


def read(key: Key, facts: View, about: About, now: float) -> Workload | None:
    """The workload of a group; None when it has no queue.

    The pods of a group that is gone still hold what they hold, if they name the queue themselves.
    """
    group, name = groups.read(facts.group, facts.record), queues.queue_of(facts.group or {}, facts.pods)
    if not name:
        return None
    queue = about.queue(name) or Queue(name)
    models = queue.models
    pods = {str(pod["metadata"]["uid"]): pod for pod in facts.pods if members.read(pod)}
    held = _places(members_of(facts.pods), facts.reservation).items()
    holds = _sum(about.demand(pods[uid], models, node) for uid, node in held)
    found = Workload(key, name, rank(key, facts.group, facts.pods), holds)
    if group is None or group.terminating or facts.reservation is not None:
        return found
    gang = Gang.of(group, facts.pods, now)
    if (quest := gang.quest()) is None:
        return found
    asked = [(member.uid, pods[member.uid]) for member in quest.waiting]
    return replace(
        found,
        waiting=tuple((uid, _limited(about.demand(pod, models), queue)) for uid, pod in asked),
        needed=quest.needed,
        kinds=frozenset(kind for _, pod in asked for kind in about.kinds(pod)),
        firm_until=_firm_until(gang),
    )


def _limited(amounts: Amounts, queue: Queue) -> Amounts:
    return {resource: amount for resource, amount in amounts.items() if resource in queue.quota}


def _places(found: Sequence[Member], reservation: JSON | None) -> dict[str, str]:
    """UID to node: of members on nodes, while they hold anything there, and of those with reserved places."""
    places = reservations.from_object(reservation) if reservation is not None else None
    seats = {seat.uid: seat.node for seat in places.seats} if places else {}
    reserved = {member.uid: seats[member.uid] for member in found if member.live and member.uid in seats}
    return reserved | {m.uid: m.node for m in found if m.node and m.phase not in ENDED}


def _firm_until(gang: Gang) -> float:
    """A group that never could start, and members that come late to one that did, are in nobody's way."""
    group = gang.group
    refused_at = seconds(group.status.get("scheduleStartTime"))
    if gang.started():
        return 0.0
    if refused_at is not None:
        return refused_at + HEAD_SECONDS
    refused = group.condition(SCHEDULED).get("reason") == Reason.GANG_UNPLACEABLE
    return 0.0 if refused else math.inf


def rank(key: Key, group: JSON | None, pods: Sequence[JSON]) -> Rank:
    """The place of a group among others: by priority, then by age."""
    return (*turn(_priority(pods), _age(group)), key)


def _priority(pods: Sequence[JSON]) -> int:
    """A gang is as urgent as the least urgent of its members."""
    found = [(pod.get("spec") or {}).get("priority") for pod in pods]
    return min((priority for priority in found if isinstance(priority, int)), default=0)


def _age(group: JSON | None) -> int:
    return int(seconds(((group or {}).get("metadata") or {}).get("creationTimestamp")) or 0)


def _sum(found: Iterable[Amounts]) -> dict[str, int]:
    total = Counter[str]()
    for amounts in found:
        total.update(amounts)
    return dict(total)
