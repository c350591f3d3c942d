"""Whether what nodes have left could be enough for a gang, by count.

Stands for NodeResourcesFit. Law: what does not fit by these sums no plan finds, for kube-scheduler counts so too;
what does fit may be refused all the same, for its shape.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import accumulate

from gpuyard.pods.fit import Amounts, NodeFit
from gpuyard.pods.requests import is_device_resource
from gpuyard_operator.room.demands import Demand, Kind
from gpuyard_operator.room.queueing_hints import ANYWHERE


class Room:
    """`used` tells what is taken of a node, and `suits` whether a kind of member may go there. `nodes` are all."""

    def __init__(
        self,
        nodes: Mapping[str, NodeFit],
        used: Callable[[str], Amounts],
        suits: Callable[[Kind, NodeFit], bool],
    ) -> None:
        self._nodes, self._used, self._suits = nodes, used, suits
        self._having: dict[tuple[str, int], set[str]] = {}
        """The nodes with so many devices of a resource left: of a full cluster these are few."""
        self._has: dict[str, list[tuple[str, int]]] = {}
        for name in nodes:
            self.count(name)

    def count(self, name: str) -> None:
        """Enter a node by what it has left."""
        for entry in self._has.pop(name, ()):
            self._having[entry].discard(name)
            if not self._having[entry]:
                del self._having[entry]
        if name not in self._nodes:
            return
        used = self._used(name)
        offers = ((r, n - used.get(r, 0)) for r, n in self._nodes[name].allocatable.items())
        self._has[name] = [(r, n) for r, n in offers if n > 0 and is_device_resource(r)]
        for entry in self._has[name]:
            self._having.setdefault(entry, set()).add(name)

    def may_help(self, demand: Demand, names: Collection[str]) -> bool:
        """Whether one of these nodes could take a member; of members without devices sums do not say."""
        nodes = (self._nodes[name] for name in names if name in self._nodes)
        if demand.has_others or ANYWHERE in names:
            return True
        return any(self._takes(kind, node) for node in nodes for kind in demand.kinds)

    def may_do(self, demand: Demand) -> bool:
        """Whether all that is left could be enough."""
        found = Counter[str]()
        for kind in demand.kinds:
            for domain, places in self._places(kind, demand.label).items():
                found[domain] += min(places, kind.members)
        enough = (domain for domain, members in found.items() if members >= demand.needed)
        return demand.needed <= 0 or any(self._may_share(demand, domain) for domain in enough)

    def _may_share(self, demand: Demand, domain: str) -> bool:
        """Whether different kinds, each of which would find room, could do so together."""
        asked = sorted(kind.count for kind in demand.kinds for _ in range(kind.members))
        least = {kind.resource: asked[0] for kind in demand.kinds}.items()
        nodes = (found for resource, count in least for found in self._with(resource, count))
        counts = (count for node, count in nodes if _domain(node, demand.label) == domain)
        wanted = sum(asked[: demand.needed])
        return any(left >= wanted for left in accumulate(counts))

    def _places(self, kind: Kind, label: str) -> Mapping[str, int]:
        """How many members of a kind there is room for, by domain."""
        found = Counter[str]()
        for node, _ in self._with(kind.resource, kind.count):
            domain = _domain(node, label)
            if domain is not None:
                found[domain] += self._takes(kind, node)
            if not label and found[""] >= kind.members:
                break
        return found

    def _takes(self, kind: Kind, node: NodeFit) -> int:
        """How many members of a kind a node has room for."""
        if not self._suits(kind, node):
            return 0
        used, wants = self._used(node.name), kind.fit.requests
        return max(
            0, min((node.allocatable.get(r, 0) - used.get(r, 0)) // wants[r] for r in wants if wants[r])
        )

    def _with(self, resource: str, least: int) -> Iterator[tuple[NodeFit, int]]:
        for (of, count), names in self._having.items():
            if of == resource and count >= least:
                yield from ((self._nodes[name], count) for name in names)


def _domain(node: NodeFit, label: str) -> str | None:
    return node.labels.get(label) if label else ""
