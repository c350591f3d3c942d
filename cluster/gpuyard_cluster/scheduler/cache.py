"""What the scheduler believes the cluster holds: nodes, what is booked on them, and what is promised there.

Stands for kube-scheduler's cache. Booked are assigned pods and *assumed* ones, whose binding is on its way; promised
is what a pod with a nominated node will take, against pods of its own or lower priority.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gpuyard.pods.fit import Amounts, NodeFit
from gpuyard.writes import JSON
from gpuyard_cluster.scheduler.nominator import Nominator
from gpuyard_cluster.scheduler.pods import PodInfo

_WAKING_FIELDS = (
    ("spec", "unschedulable"),
    ("spec", "taints"),
    ("metadata", "labels"),
    ("metadata", "annotations"),
    ("status", "allocatable"),
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node as one pod meets it: `used` includes what is promised to others before it."""

    node: NodeFit
    used: Amounts
    obj: JSON
    judged: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """What `cycle` found out about the node as it is here, by the shape of pods."""


@dataclass(frozen=True, slots=True)
class _Booking:
    node: str
    pod: PodInfo
    assumed: bool


class ClusterCache:
    """Nodes and bookings, by name and by UID."""

    def __init__(self) -> None:
        self._nodes: dict[str, Candidate] = {}
        self._used: dict[str, Counter[str]] = {}
        self._bookings: dict[str, _Booking] = {}
        self._booked: dict[str, dict[str, PodInfo]] = {}
        self._priorities: Counter[int] = Counter()
        self._evicted: set[str] = set()
        self.nominator = Nominator()

    @property
    def names(self) -> list[str]:
        """Of the nodes, in the order of their joining."""
        return list(self._nodes)

    @property
    def booked(self) -> list[str]:
        """The UIDs of assigned and assumed pods."""
        return list(self._bookings)

    def set_node(self, node: JSON) -> bool:
        """A node is new or changed; whether in a way that may let a rejected pod fit."""
        name = node["metadata"]["name"]
        old = self._nodes.get(name)
        self._nodes[name] = Candidate(NodeFit.of(node), self._used.get(name, Counter()), node)
        return old is None or _waking(old.obj) != _waking(node)

    def remove_node(self, name: str) -> bool:
        """A node is gone; whether it was known."""
        return self._nodes.pop(name, None) is not None

    def assume(self, pod: PodInfo, node: str) -> None:
        """Book a pod whose binding is on its way."""
        self._book(pod, node, assumed=True)

    def assign(self, pod: PodInfo) -> None:
        """Book a pod that the API server shows on a node."""
        self._book(pod, pod.node, assumed=False)

    def assigned(self, uid: str) -> bool:
        """Whether the pod was seen on a node."""
        booking = self._bookings.get(uid)
        return booking is not None and not booking.assumed

    def release(self, uid: str) -> bool:
        """A pod ended, is gone, or was not bound after all; whether it held anything."""
        self._evicted.discard(uid)
        return self._unbook(uid)

    def nominate(self, pod: PodInfo) -> None:
        """Promise a waiting pod its nominated node; a booked pod needs no promise."""
        if pod.uid not in self._bookings:
            self.nominator.nominate(pod)

    def evicted(self, uid: str) -> None:
        """A pod was told to make room; it is booked until it is seen to be gone."""
        if uid in self._bookings:
            self._evicted.add(uid)

    def making_room(self, node: str, priority: int) -> bool:
        """Whether a pod of lower priority that was preempted has not left the node yet."""
        return any(pod.uid in self._evicted or pod.preempted for pod in self.booked_below(node, priority))

    def booked_on(self, node: str) -> Collection[PodInfo]:
        """The assigned and assumed pods of a node."""
        return self._booked.get(node, {}).values()

    def booked_below(self, node: str, priority: int) -> list[PodInfo]:
        """The pods on a node whose priority is lower. Where there are none in the cluster that costs nothing."""
        if min(self._priorities, default=priority) >= priority:
            return []
        return [pod for pod in self.booked_on(node) if pod.priority < priority]

    def candidates(self, pod: PodInfo, names: Iterable[str] | None = None) -> list[Candidate]:
        """All nodes, or those of `names` that exist, as `pod` meets them."""
        if names is None and not self.nominator:
            return list(self._nodes.values())
        wanted = self._nodes if names is None else (name for name in names if name in self._nodes)
        return [self._met(name, pod) for name in wanted]

    def _met(self, name: str, pod: PodInfo) -> Candidate:
        found, promised = self._nodes[name], self.nominator.on(name)
        if not promised:
            return found
        met = Counter(found.used)
        for other in promised:
            if other.uid != pod.uid and other.priority >= pod.priority:
                met.update(other.fit.requests)
        return replace(found, used=met, judged={})

    def _book(self, pod: PodInfo, node: str, *, assumed: bool) -> None:
        self._unbook(pod.uid)
        self.nominator.withdraw(pod.uid)
        self._bookings[pod.uid] = _Booking(node, pod, assumed)
        self._booked.setdefault(node, {})[pod.uid] = pod
        self._priorities[pod.priority] += 1
        used = Counter(self._used.get(node))
        used.update(pod.fit.requests)
        self._use(node, used)

    def _unbook(self, uid: str) -> bool:
        booking = self._bookings.pop(uid, None)
        if booking is None:
            return False
        del self._booked[booking.node][uid]
        self._priorities[booking.pod.priority] -= 1
        if not self._priorities[booking.pod.priority]:
            del self._priorities[booking.pod.priority]
        used = Counter(self._used[booking.node])
        used.subtract(booking.pod.fit.requests)
        self._use(booking.node, used)
        return True

    def _use(self, name: str, used: Counter[str]) -> None:
        """From now on so much of the node is booked; what was found out about it before is forgotten."""
        self._used[name] = used
        if name in self._nodes:
            self._nodes[name] = replace(self._nodes[name], used=used, judged={})


def _waking(node: JSON) -> list[Any]:
    """What kube-scheduler takes for a change of a node: not a heartbeat."""
    conditions: Iterable[Mapping[str, Any]] = (node.get("status") or {}).get("conditions") or ()
    states = {found.get("type"): found.get("status") for found in conditions}
    return [*((node.get(part) or {}).get(name) for part, name in _WAKING_FIELDS), states]
