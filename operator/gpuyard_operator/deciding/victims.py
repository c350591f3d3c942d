"""Who makes way for whom, as the Reservations say, and how important the pods on nodes are.

Stands for what kube-scheduler's preemption knows from its snapshot. Law: it is read from the objects alone, so that
an operator that was killed between recording a decision and carrying it out goes on with it.
"""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass

from gpuyard.groups.reservations import Reservation, Victim
from gpuyard.pods import memberships
from gpuyard_kube.store import Change
from gpuyard_operator.objects.groups import Key
from gpuyard_operator.objects.pods import PodFacts


@dataclass(frozen=True, slots=True)
class Preemption:
    """How a group stands against others: who is still `present` of those that have to go for it, and who of them is
    `unevicted`: nobody has told them to go. `preemptor`: for whom its own pods have to go; empty where they need not.
    """

    present: tuple[Victim, ...] = ()
    unevicted: tuple[Victim, ...] = ()
    preemptor: str = ""


class Victims:
    """What learns returns the keys of the groups that have to look again."""

    def __init__(self, pod: Callable[[str], PodFacts | None], *, preempts: bool) -> None:
        """`pod` tells of a pod by its UID; `preempts`: whether anybody is to be evicted for others."""
        self._pod, self._preempts = pod, preempts
        self._priorities, self._evicted = Counter[int](), set[str]()
        self._decisions: dict[Key, Reservation] = {}

    @property
    def lowest(self) -> int | None:
        """The lowest priority of a pod on a node; None where nobody is to be evicted, or nobody is there."""
        return min(self._priorities, default=None) if self._preempts else None

    def of(self, key: Key) -> Preemption:
        """How the group stands."""
        known = self._decisions.get(key)
        there = [(victim, pod) for victim in known.victims if (pod := self._there(victim))] if known else []
        unevicted = tuple(victim for victim, pod in there if not (pod.leaving or pod.uid in self._evicted))
        by = [found for found in self._decisions.values() if key in _groups(found)]
        return Preemption(tuple(victim for victim, _ in there), unevicted, min(map(_name, by), default=""))

    def decide(self, key: Key, found: Reservation | None) -> set[Key]:
        """The Reservation of a group, as last seen."""
        before = self._decisions.pop(key, None)
        if found and found.victims:
            self._decisions[key] = found
        return _groups(before) ^ _groups(self._decisions.get(key))

    def evicted(self, uid: str) -> None:
        """The API server has taken the eviction of a pod, which has not been seen to leave yet."""
        self._evicted.add(uid)

    def take(self, changes: Collection[Change[PodFacts]]) -> set[Key]:
        """Some pods have changed."""
        for change in changes:
            before, after = (pod if pod and pod.node else None for pod in (change.before, change.after))
            self._priorities.subtract([before.priority] if before else [])
            self._priorities.update([after.priority] if after else [])
            self._evicted -= set() if after else {change.uid}
        self._priorities += Counter()  # without those of which nobody is left
        uids = {change.uid for change in changes}
        return {key for key, found in self._decisions.items() if any(it.uid in uids for it in found.victims)}

    def _there(self, victim: Victim) -> PodFacts | None:
        pod = self._pod(victim.uid)
        return pod if pod and pod.node else None


def _groups(found: Reservation | None) -> set[Key]:
    return {(victim.namespace, victim.group) for victim in found.victims if victim.group} if found else set()


def _name(found: Reservation) -> str:
    seat = found.seats[0] if found.seats else None
    if seat is not None and found.group == memberships.alone(seat.uid):
        return f"pod {found.namespace}/{seat.name}"
    return f"pod group {found.namespace}/{found.group}"
