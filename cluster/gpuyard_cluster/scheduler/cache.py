"""What the scheduler believes the cluster holds: nodes, what is booked on them, and what is promised there.

Stands for kube-scheduler's cache and nominator. Booked are assigned pods and *assumed* ones, whose binding is on its
way; promised is what a pod with a nominated node will take, against pods of its own or lower priority.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gpuyard.fit import Amounts, NodeFit
from gpuyard.writes import JSON
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


@dataclass(frozen=True, slots=True)
class _Booking:
    node: str
    requests: Amounts
    assumed: bool


class ClusterCache:
    """Nodes and bookings, by name and by UID."""

    def __init__(self) -> None:
        self._nodes: dict[str, tuple[NodeFit, JSON]] = {}
        self._used: dict[str, Counter[str]] = {}
        self._bookings: dict[str, _Booking] = {}
        self._nominated: dict[str, dict[str, PodInfo]] = {}
        self._nominations: dict[str, str] = {}

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
        self._nodes[name] = (NodeFit.of(node), node)
        return old is None or _waking(old[1]) != _waking(node)

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
        booking = self._bookings.pop(uid, None)
        if booking is not None:
            self._add(booking.node, booking.requests, -1)
        return booking is not None

    def nominate(self, pod: PodInfo) -> None:
        """Promise a waiting pod its nominated node instead of an older one; a booked pod needs no promise."""
        self.withdraw(pod.uid)
        if pod.nominated and pod.uid not in self._bookings:
            self._nominations[pod.uid] = pod.nominated
            self._nominated.setdefault(pod.nominated, {})[pod.uid] = pod

    def withdraw(self, uid: str) -> None:
        """Take back what was promised to a pod."""
        node = self._nominations.pop(uid, None)
        if node is not None:
            del self._nominated[node][uid]

    def candidates(self, pod: PodInfo, names: Iterable[str] | None = None) -> list[Candidate]:
        """All nodes, or those of `names` that exist, as `pod` meets them."""
        wanted = self._nodes if names is None else (name for name in names if name in self._nodes)
        return [
            Candidate(self._nodes[name][0], self._met(name, pod), self._nodes[name][1]) for name in wanted
        ]

    def _met(self, name: str, pod: PodInfo) -> Amounts:
        used, promised = self._used.get(name, Counter()), self._nominated.get(name)
        if not promised:
            return used  # not copied: this is asked for every node and pod
        met = Counter(used)
        for other in promised.values():
            if other.uid != pod.uid and other.priority >= pod.priority:
                met.update(other.fit.requests)
        return met

    def _book(self, pod: PodInfo, node: str, *, assumed: bool) -> None:
        self.release(pod.uid)
        self.withdraw(pod.uid)
        self._bookings[pod.uid] = _Booking(node, pod.fit.requests, assumed)
        self._add(node, pod.fit.requests, 1)

    def _add(self, node: str, requests: Amounts, sign: int) -> None:
        used = self._used.setdefault(node, Counter())
        if sign > 0:
            used.update(requests)
        else:
            used.subtract(requests)


def _waking(node: JSON) -> list[Any]:
    """What kube-scheduler takes for a change of a node: not a heartbeat."""
    conditions: Iterable[Mapping[str, Any]] = (node.get("status") or {}).get("conditions") or ()
    states = {found.get("type"): found.get("status") for found in conditions}
    return [*((node.get(part) or {}).get(name) for part, name in _WAKING_FIELDS), states]
