"""Every node with the claims on it, kept up to date claim by claim.

Stands for the scheduler cache's snapshot. Laws: a pod has one claim at most; a node's state is built anew only after
something on it was touched; claims outlive their node, because a node can come back before its pods are gone.
"""

from collections.abc import Collection, Iterable

from gpuyard.cluster import Cluster, Node
from gpuyard_extender import nodes
from gpuyard_extender.claims import Claim
from gpuyard_extender.mirror import Change
from gpuyard_extender.nodes import NodeFacts


class Holdings:
    """Who claims what, by node."""

    def __init__(self) -> None:
        self._facts: dict[str, NodeFacts] = {}
        self._claims: dict[str, Claim] = {}
        self._on_node: dict[str, dict[str, Claim]] = {}
        self._built: dict[str, Node] = {}
        self._touched: set[str] = set()
        self._changed: dict[str, int] = {}
        self.changes = 0
        """Counts up with every change of what some node has or gives."""

    def set_claim(self, uid: str, claim: Claim | None) -> None:
        """What the pod claims from now on; None: nothing."""
        before = self._claims.pop(uid, None)
        if claim is not None:
            self._claims[uid] = claim
        if before == claim:
            return
        if before is not None:
            del self._on_node[before.node][uid]
            self._touch(before.node)
        if claim is not None:
            self._on_node.setdefault(claim.node, {})[uid] = claim
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
        for name in self._touched:
            self._build(name)
        self._touched.clear()
        built = dict(self._built)
        for name in {self._claims[uid].node for uid in besides if uid in self._claims} & built.keys():
            built[name] = nodes.build(self._facts[name], self._on_node[name], besides)
        return Cluster(built)

    def has_inventory(self, node: str) -> bool:
        """Whether the node is known with its devices, not only with counts."""
        facts = self._facts.get(node)
        return facts is not None and facts.inventory is not None

    def changed_since(self, change: int) -> set[str]:
        """Names of the nodes that changed after `changes` was at `change`."""
        return {name for name, last in self._changed.items() if last > change}

    def _touch(self, node: str) -> None:
        self.changes += 1
        self._changed[node] = self.changes
        self._touched.add(node)

    def _build(self, name: str) -> None:
        facts, claims = self._facts.get(name), self._on_node.get(name, {})
        if facts is not None:
            self._built[name] = nodes.build(facts, claims)
        else:
            self._built.pop(name, None)
        if not claims:
            self._on_node.pop(name, None)
