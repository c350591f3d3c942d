"""Who makes way for whom, as the Reservations say, and how important the pods on nodes are.

Stands for what kube-scheduler's preemption knows from its snapshot. Law: it is read from the objects alone, so that
an operator that was killed between recording a decision and carrying it out goes on with it.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from gpuyard.groups import reservations
from gpuyard.groups.reservations import Reservation, Victim
from gpuyard.pods import memberships
from gpuyard.pods.phases import ENDED
from gpuyard.writes import JSON
from gpuyard_operator.members import read
from gpuyard_operator.shelf import Key, Shelf, uid_of


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

    def __init__(self, *, preempts: bool) -> None:
        """`preempts`: whether anybody is to be evicted for others."""
        self._preempts = preempts
        self._pods = Shelf(_by_uid)
        self._priorities, self._evicted = Counter[int](), set[str]()
        self._decisions: dict[Key, Reservation] = {}

    @property
    def lowest(self) -> int | None:
        """The lowest priority of a pod on a node; None where nobody is to be evicted, or nobody is there."""
        return min(self._priorities, default=None) if self._preempts else None

    def of(self, key: Key) -> Preemption:
        """How the group stands."""
        known = self._decisions.get(key)
        present = tuple(victim for victim in known.victims if self._at(victim.uid)) if known else ()
        unevicted = tuple(victim for victim in present if not self._is_leaving(victim.uid))
        by = [found for found in self._decisions.values() if key in _groups(found)]
        return Preemption(present, unevicted, min(map(_name, by), default=""))

    def decide(self, key: Key, obj: JSON | None) -> set[Key]:
        """The Reservation of a group, as last seen."""
        before, after = self._decisions.pop(key, None), obj and reservations.from_object(obj)
        if after and after.victims:
            self._decisions[key] = after
        return _groups(before) ^ _groups(self._decisions.get(key))

    def evicted(self, uid: str) -> None:
        """The API server has taken the eviction of a pod, which has not been seen to leave yet."""
        self._evicted.add(uid)

    def observe(self, event: str, pod: JSON) -> set[Key]:
        """One event of pods."""
        uid = uid_of(pod)
        before = self._at(uid)
        (self._pods.drop if event == "DELETED" else self._pods.put)(_slim(pod))
        after = self._at(uid)
        self._evicted -= set() if after else {uid}
        self._priorities.subtract(found["priority"] for found in before)
        self._priorities.update(found["priority"] for found in after)
        self._priorities += Counter()  # without those of which nobody is left
        return {
            key for key, found in self._decisions.items() if any(each.uid == uid for each in found.victims)
        }

    def replace(self, pods: Iterable[JSON], as_of: int | None) -> set[Key]:
        """All pods."""
        self._pods.replace(map(_slim, pods), as_of=as_of)
        known, found = self._pods.keys(), self._pods.at
        self._evicted &= {uid for _, uid in known}
        self._priorities = Counter(found(key)[0]["priority"] for key in known)
        return set(self._decisions)

    def _is_leaving(self, uid: str) -> bool:
        return uid in self._evicted or bool(self._at(uid)[0]["leaving"])

    def _at(self, uid: str) -> tuple[JSON, ...]:
        return self._pods.at(("", uid))


def _groups(found: Reservation | None) -> set[Key]:
    return {(victim.namespace, victim.group) for victim in found.victims if victim.group} if found else set()


def _name(found: Reservation) -> str:
    seat = found.seats[0] if found.seats else None
    if seat is not None and found.group == memberships.alone(seat.uid):
        return f"pod {found.namespace}/{seat.name}"
    return f"pod group {found.namespace}/{found.group}"


def _slim(pod: JSON) -> JSON:
    """What is kept of a pod that holds a node: how important it is, and whether it is on its way out."""
    metadata, member = pod.get("metadata") or {}, read(pod)
    kept = {name: metadata.get(name) for name in ("uid", "namespace", "name", "resourceVersion")}
    if member is None or not member.node or member.phase in ENDED:
        return {"metadata": kept, "there": False}
    return {"metadata": kept, "there": True, "priority": member.priority, "leaving": member.terminating}


def _by_uid(slim: JSON) -> Key | None:
    return ("", uid_of(slim)) if slim["there"] else None
