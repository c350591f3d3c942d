"""Which devices live pods hold, so that reserved places that went to somebody else are noticed at once.

Stands for the node cache that kube-scheduler's Reserve plugins look at. Law: it only tells which seats are lost; a
device is held by whoever the kubelet, or else the plan, says, until that pod ends or is gone.
"""

from collections.abc import Iterable

from gpuyard import vocabulary
from gpuyard.annotations import ids, read_allocation
from gpuyard.auditing import accounts
from gpuyard.groups import reservations
from gpuyard.groups.reservations import Seat
from gpuyard.pods.phases import has_ended
from gpuyard.writes import JSON
from gpuyard_operator.shelf import Key, Shelf


class Holdings:
    """What learns returns the keys of the groups whose seats may be lost by it."""

    def __init__(self) -> None:
        self._pods = Shelf(_by_node)
        self._nodes: set[str] = set()
        self._gone: set[str] = set()
        self._seats: dict[Key, tuple[Seat, ...]] = {}
        self._keys: dict[str, set[Key]] = {}

    def lost(self, key: Key) -> frozenset[str]:
        """The UIDs of the reserved members of a group whose devices another pod holds, or whose node is gone.

        Of members that wait: the devices of a bound one are held, by itself.
        """
        return frozenset(seat.uid for seat in self._seats.get(key, ()) if self._is_lost(seat))

    def seat(self, key: Key, reservation: JSON | None) -> None:
        """The Reservation of a group, as last seen."""
        for seat in self._seats.pop(key, ()):
            self._keys.get(seat.node, set()).discard(key)
        found = reservations.from_object(reservation) if reservation is not None else None
        if found is not None:
            self._seats[key] = found.seats
        for seat in self._seats.get(key, ()):
            self._keys.setdefault(seat.node, set()).add(key)

    def observe(self, resource: str, event: str, obj: JSON) -> set[Key]:
        """One event of pods or nodes."""
        match resource:
            case "pods":
                return self._pod(obj, gone=event == "DELETED")
            case "nodes":
                return self._node(obj, gone=event == "DELETED")
        return set()

    def replace(self, resource: str, objects: Iterable[JSON], as_of: int | None) -> set[Key]:
        """All objects of a resource."""
        match resource:
            case "pods":
                self._pods.replace(map(_slim, objects), as_of=as_of)
            case "nodes":
                listed = {_name(obj) for obj in objects}
                self._gone = (self._gone | self._nodes) - listed
                self._nodes = listed
        return set(self._seats)

    def _pod(self, pod: JSON, gone: bool) -> set[Key]:
        if gone:
            self._pods.drop(pod)
            return set()
        slim = _slim(pod)
        keys = self._keys.get(slim["node"])
        before = self._held(slim["node"]) if keys else frozenset()
        self._pods.put(slim)
        return set(keys) if keys and self._held(slim["node"]) - before else set()

    def _node(self, node: JSON, gone: bool) -> set[Key]:
        name = _name(node)
        (self._nodes.discard if gone else self._nodes.add)(name)
        (self._gone.add if gone else self._gone.discard)(name)
        return set(self._keys.get(name, ())) if gone else set()

    def _held(self, node: str) -> frozenset[str]:
        return frozenset().union(*(slim["ids"] for slim in self._pods.at(("", node))))

    def _is_lost(self, seat: Seat) -> bool:
        return seat.node in self._gone or bool(ids(seat.allocation) & self._held(seat.node))


def _name(obj: JSON) -> str:
    return str((obj.get("metadata") or {}).get("name", ""))


def _slim(pod: JSON) -> JSON:
    """What is kept of a pod: who it is, its node while it is live there, and its devices."""
    metadata = pod.get("metadata") or {}
    ended = has_ended(pod)
    node = "" if ended else str((pod.get("spec") or {}).get("nodeName") or "")
    kept = {key: metadata.get(key) for key in ("uid", "namespace", "name", "resourceVersion")}
    return {"metadata": kept, "node": node, "ids": _ids(pod) if node else frozenset()}


def _ids(pod: JSON) -> frozenset[str]:
    try:
        plan = read_allocation((pod["metadata"].get("annotations") or {}).get(vocabulary.ALLOCATION)) or {}
        return ids({**plan, **accounts.truth(pod)})
    except (AttributeError, KeyError, TypeError):
        return frozenset()


def _by_node(slim: JSON) -> Key | None:
    return ("", slim["node"]) if slim["ids"] else None
