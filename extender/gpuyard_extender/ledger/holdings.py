"""Every node with the claims on it, kept up to date claim by claim.

Stands for the scheduler cache's snapshot. Laws: a pod has one claim at most; a node's state is built anew only after
something on it was touched; claims outlive their node, because a node can come back before its pods are gone.
"""

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from gpuyard.placing import parts
from gpuyard.placing.cluster import Cluster, Node
from gpuyard.placing.fleet import Fleet, Surveyed
from gpuyard.placing.views import View, Views
from gpuyard.pods.fit import Amounts, PodFit
from gpuyard.pods.requests import PodRequest, is_device_resource
from gpuyard.policies.workload import Column, Shape
from gpuyard_extender.ledger import nodes
from gpuyard_extender.ledger.claims import Claim, Tenants
from gpuyard_extender.ledger.nodes import NodeFacts
from gpuyard_kube.store import Change

_NOBODY: Final = Tenants()


class Holdings:
    """Who claims what, by node."""

    def __init__(self) -> None:
        self._facts: dict[str, NodeFacts] = {}
        self._claims: dict[str, Claim] = {}
        self._on_node: dict[str, Tenants] = {}
        self._yielding: dict[str, int] = {}
        """UID to the priority above which its claim does not count."""
        self._built: dict[str, Node] = {}
        self._touched: set[str] = set()
        self._changed: dict[str, int] = {}
        self.changes = 0
        """Counts up with every change of what some node has or gives."""
        self.fleet = Fleet()
        """All nodes with all claims on them, as of the last `cluster` or `view`."""
        self._views = Views(self.fleet)

    def set_claim(self, uid: str, claim: Claim | None) -> None:
        """What the pod claims from now on; None: nothing."""
        before = self._claims.pop(uid, None)
        if claim is not None:
            self._claims[uid] = claim
        if before == claim:
            return
        self._yielding.pop(uid, None)
        if claim is not None and claim.yields_above is not None:
            self._yielding[uid] = claim.yields_above
        if before is not None:
            self._on_node[before.node].remove(uid)
            self._touch(before.node)
        if claim is not None:
            self._on_node.setdefault(claim.node, Tenants()).put(uid, claim)
            self._touch(claim.node)

    def set_nodes(self, changes: Iterable[Change[NodeFacts]]) -> None:
        """Node objects were seen to change."""
        for change in changes:
            if change.before is not None:
                del self._facts[change.before.name]
            if change.after is not None:
                self._facts[change.after.name] = change.after
            found = change.after or change.before
            if found is not None and change.before != change.after:
                self._touch(found.name)

    def cluster(self, besides: Collection[str]) -> Cluster:
        """All nodes with all claims on them, except those of the pods `besides` (UIDs)."""
        self.settle()
        built = dict(self._built)
        for name in {self._claims[uid].node for uid in besides if uid in self._claims} & built.keys():
            built[name] = nodes.build(self._facts[name], self._on_node[name], besides)
        return Surveyed(built, self.fleet.copy())

    def node(self, name: str, besides: Collection[str]) -> Node | None:
        """The same for one node."""
        self.settle()
        if any(uid in self._claims and self._claims[uid].node == name for uid in besides):
            facts = self._facts.get(name)
            return nodes.build(facts, self._on_node[name], besides) if facts else None
        return self._built.get(name)

    def find(self, names: Sequence[str]) -> Column:
        """The row of each node in the fleet, -1 for names that are not known."""
        self.settle()
        return self.fleet.find(names)

    def view(self, pod: PodFit, request: PodRequest) -> View:
        """What pods like this one meet on every node, the pod's own claim included."""
        self.settle()
        found = self._views.of(pod, request)
        found.refresh(self.changes, self.changed_since)
        return found

    def claim(self, uid: str) -> Claim | None:
        """What the pod claims, and where."""
        return self._claims.get(uid)

    def yielding(self, priority: int) -> set[str]:
        """UIDs of those whose claims do not count for pods of this priority."""
        return {uid for uid, most in self._yielding.items() if most < priority}

    def is_expected(self, uid: str) -> bool:
        """Whether the pod's claim is on room that others have to leave."""
        return uid in self._yielding

    def by_node(self, uids: Iterable[str]) -> dict[str, set[str]]:
        """Those of them that claim something, by where."""
        found: dict[str, set[str]] = {}
        for uid in uids:
            if (claim := self._claims.get(uid)) is not None:
                found.setdefault(claim.node, set()).add(uid)
        return found

    def shapes(self) -> Iterator[tuple[str, Shape]]:
        """What each pod (by UID) with a place asked for."""
        self.settle()
        for name, node in self._built.items():
            booked = {uid: claim.booked for uid, claim in self.claims(name).items()}
            yield from parts.shapes(node, booked).items()

    def claims(self, node: str) -> Mapping[str, Claim]:
        """The claims on a node, by UID."""
        return self._on_node.get(node, _NOBODY).claims

    def every_claim(self) -> dict[str, dict[str, Claim]]:
        """All claims of this moment, by node and UID."""
        return {node: dict(tenants.claims) for node, tenants in self._on_node.items()}

    def booked(self, node: str) -> dict[str, Amounts]:
        """How many of each GPU resource the pods that claim any (by UID) claim on a node."""
        counts = {
            uid: {resource: n for resource, n in claim.booked.items() if is_device_resource(resource)}
            for uid, claim in self.claims(node).items()
        }
        return {uid: amounts for uid, amounts in counts.items() if amounts}

    def has_inventory(self, node: str) -> bool:
        """Whether the node is known with its devices, not only with counts."""
        facts = self._facts.get(node)
        return facts is not None and facts.inventory is not None

    def changed_since(self, change: int) -> set[str]:
        """Names of the nodes that changed after `changes` was at `change`."""
        latest_first = reversed(self._changed.items())
        return {name for name, _ in itertools.takewhile(lambda found: found[1] > change, latest_first)}

    def _touch(self, node: str) -> None:
        self.changes += 1
        self._changed.pop(node, None)
        self._changed[node] = self.changes
        self._touched.add(node)

    def settle(self) -> None:
        """Build what has been touched; every question does so."""
        for name in self._touched:
            self._build(name)
        self._touched.clear()

    def _build(self, name: str) -> None:
        facts, tenants = self._facts.get(name), self._on_node.get(name, _NOBODY)
        if facts is not None:
            self._built[name] = nodes.build(facts, tenants)
            self.fleet.put(self._built[name])
        else:
            self._built.pop(name, None)
            self.fleet.remove(name)
        if not tenants.claims:
            self._on_node.pop(name, None)
