"""Which reserved places cannot be used any more, so that it is noticed at once.

Stands for the node cache that kube-scheduler's Reserve plugins look at, and for the look at a node's health before
Kueue's topology ungater lets a pod go to it. A seat is lost, while its member is not bound, when

    its node      is deleted; or is none any more to which the member may go: not ready, cordoned, tainted
    a device      is sick or gone, as far as the node's inventory says; or is another pod's

A node that is not ready, and not more than that, may be ready again before anybody has noticed: no gate falls for a
place on it, but of a group whose gates fall already, or for which others go already, nothing is given up for that.

Laws: it only tells which seats are lost; a node is judged by the function by which the extender judges it, so that
what is planned anew is planned elsewhere as soon as both see the same; a device is held by whoever the kubelet, or
else the plan, says, until that pod ends or is gone, and those who have to go for a group do not take it from it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from gpuyard.annotations import ids
from gpuyard.groups.reservations import Reservation, Seat
from gpuyard.pods import fit
from gpuyard.pods.fit import NodeFit, PodFit
from gpuyard_kube.store import Change, Index
from gpuyard_operator.objects import members
from gpuyard_operator.objects.groups import Key
from gpuyard_operator.objects.nodes import NodeFacts
from gpuyard_operator.objects.pods import PodFacts

_PASSING: Final = {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}
"""The taints of a node whose kubelet is not heard of."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A seat in the Reservation of a group, for which the `victims` have to go (UIDs)."""

    key: Key
    seat: Seat
    victims: frozenset[str]


class LostSeats:
    """What learns of pods or nodes returns the keys of the groups of whose seats others are lost now."""

    def __init__(
        self, pod: Callable[[str], PodFacts | None], node: Callable[[str], NodeFacts | None]
    ) -> None:
        """`pod` tells of a pod by its UID, `node` of a node by its name: as they are after all that is learnt."""
        self._pod, self._node, self._gone = pod, node, set[str]()
        self._holders = Index[str, PodFacts](lambda pod: pod.node if pod.devices else None)
        self._places: dict[Key, dict[str, _Place]] = {}
        self._by_node = Index[str, _Place](lambda place: place.seat.node)
        self._by_pod = Index[str, _Place](lambda place: place.seat.uid)
        self._lost: dict[Key, frozenset[str]] = {}

    def of(self, key: Key) -> frozenset[str]:
        """The UIDs of the members of a group whose seats are lost."""
        return self._lost.get(key, frozenset())

    def begin(self) -> None:
        """All was listed: a node that a Reservation names and that is not there was deleted before."""
        self._gone |= {name for name in [*self._by_node.keys()] if self._node(name) is None}
        self._look(place for name in self._gone for place in self._by_node.at(name))

    def reserve(self, key: Key, found: Reservation | None) -> None:
        """The Reservation of a group, as last seen."""
        before, after = self._places.pop(key, {}), _places(key, found)
        changes = [Change(name, before.get(name), after.get(name)) for name in before.keys() | after.keys()]
        self._by_node.take(changes)
        self._by_pod.take(changes)
        self._lost.pop(key, None)
        if after:
            self._places[key] = after
        self._look(after.values())

    def pods(self, changes: Iterable[Change[PodFacts]]) -> set[Key]:
        """Some pods have changed."""
        changed = list(changes)
        beside = (place for node in self._holders.take(changed) for place in self._by_node.at(node))
        own = [place for it in changed for place in self._by_pod.at(it.uid)]
        losing = {place.key for place in own if self.of(place.key)}
        others = (place for key in losing for place in self._places[key].values())
        return self._look([*beside, *own, *others])

    def nodes(self, changes: Iterable[Change[NodeFacts]]) -> set[Key]:
        """Some nodes have changed."""
        changed = [it for it in changes if it.before != it.after]
        gone = {it.before.name for it in changed if it.before and not it.after}
        there = {it.after.name for it in changed if it.after}
        self._gone = (self._gone | gone) - there
        return self._look(place for name in gone | there for place in self._by_node.at(name))

    def _look(self, places: Iterable[_Place]) -> set[Key]:
        changed = set[Key]()
        for place in places:
            lost, uid = self.of(place.key), place.seat.uid
            if self._is_lost(place) != (uid in lost):
                self._lost[place.key] = lost ^ {uid}
                changed.add(place.key)
        return changed

    def _is_lost(self, place: _Place) -> bool:
        seat, pod, node = place.seat, self._pod(place.seat.uid), self._node(place.seat.node)
        if pod is not None and pod.node:
            return False
        wanted = ids(seat.allocation)
        others = (pod for pod in self._holders.at(seat.node) if pod.uid not in place.victims)
        if seat.node in self._gone or any(wanted & pod.devices for pod in others):
            return True
        if node is None or (_may_go(pod, node.fit) and _has(node, wanted)):
            return False
        passing = _has(node, wanted) and _may_go(pod, _come_back(node.fit))
        return not passing or self._is_untouched(place.key)

    def _is_untouched(self, key: Key) -> bool:
        """Whether all members of a group still have their gates, and nobody has to go for them."""
        places = self._places.get(key, {}).values()
        return all(not place.victims and _is_gated(self._pod(place.seat.uid)) for place in places)


def _places(key: Key, found: Reservation | None) -> dict[str, _Place]:
    """By a name of their own: what is written in a Reservation is somebody else's data."""
    if found is None:
        return {}
    victims = frozenset(victim.uid for victim in found.victims)
    return {"/".join((*key, seat.uid)): _Place(key, seat, victims) for seat in found.seats}


def _has(node: NodeFacts, devices: frozenset[str]) -> bool:
    """Whether they are there and well, as far as that can be known."""
    return node.sound is None or devices <= node.sound


def _may_go(pod: PodFacts | None, node: NodeFit) -> bool:
    """Whether a member is meant for a node; of one that is not known, or unreadable, nobody can say."""
    if pod is None or pod.obj is None:
        return True
    try:
        return fit.misplaced(PodFit.of(pod.obj), node) is None
    except (AttributeError, KeyError, TypeError, ValueError):
        return True


def _come_back(node: NodeFit) -> NodeFit:
    """The node as it will be once its kubelet is heard of again."""
    return replace(
        node, ready=True, taints=tuple(taint for taint in node.taints if taint.key not in _PASSING)
    )


def _is_gated(pod: PodFacts | None) -> bool:
    found = members.read(pod.obj) if pod is not None and pod.obj is not None else None
    return found is not None and found.gated
