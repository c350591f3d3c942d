"""What to do about one object and its owners: the garbage collector's decisions.

Stands for `attemptToDeleteItem`, `processDeletingDependentsItem` and `attemptToOrphan`. Laws:
- An object goes when none of its owners is left, and loses references to owners that are gone while one is left.
- Foreground: the owner stays until every dependent that blocks it is gone.
- Orphan: the owner stays until no dependent names it.
Every write names the version or uid that was looked at, so that a late one fails instead of hitting another object.
"""

from gpuyard.writes import JSON, PatchType, Write
from gpuyard_cluster.controllers.graph import FOREGROUND, ORPHAN, Graph, Item, Owner

Decision = tuple[Item, Write]
"""The object that is written, and the write without its path, which depends on what the server serves."""


def unknown_owners(item: Item, graph: Graph) -> list[Owner]:
    """The owners whose absence must be seen at the API server before `item` may be judged."""
    if item.deleting:
        return []
    return [owner for owner in item.owners if graph.get(owner.uid) is None]


def decide(item: Item, graph: Graph, absent: frozenset[str]) -> list[Decision]:
    """The writes that an object calls for now. `absent` are uids of owners that are known not to exist."""
    if item.holds(ORPHAN):
        orphans = list(graph.dependents(item.uid))
        return [(orphan, _without_owners(orphan, {item.uid})) for orphan in orphans] or [
            (item, _without_finalizer(item, ORPHAN))
        ]
    if item.holds(FOREGROUND):
        waiting = any(_blocks(dependent, item) for dependent in graph.dependents(item.uid))
        return [] if waiting else [(item, _without_finalizer(item, FOREGROUND))]
    if item.deleting or not item.owners:
        return []
    return _judge(item, graph, absent)


def _judge(item: Item, graph: Graph, absent: frozenset[str]) -> list[Decision]:
    leaving = {owner.uid for owner in item.owners if _is_leaving(owner, graph)}
    gone = {owner.uid for owner in item.owners if owner.uid in absent} | leaving
    if not gone:
        return []
    if len(gone) < len({owner.uid for owner in item.owners}):
        return [(item, _without_owners(item, gone))]
    in_turn = leaving and any(True for _ in graph.dependents(item.uid))
    return [(item, _delete(item, "Foreground" if in_turn else _chosen_policy(item)))]


def _is_leaving(owner: Owner, graph: Graph) -> bool:
    """Whether an owner waits for its dependents to go first."""
    known = graph.get(owner.uid)
    return known is not None and known.holds(FOREGROUND)


def _blocks(dependent: Item, owner: Item) -> bool:
    return any(named.blocking for named in dependent.owners if named.uid == owner.uid)


def _chosen_policy(item: Item) -> str:
    if ORPHAN in item.finalizers:
        return "Orphan"
    return "Foreground" if FOREGROUND in item.finalizers else "Background"


def _delete(item: Item, policy: str) -> Write:
    options = {"propagationPolicy": policy, "preconditions": {"uid": item.uid}}
    return Write("DELETE", "", {"kind": "DeleteOptions", "apiVersion": "v1", **options})


def _without_owners(item: Item, uids: set[str]) -> Write:
    kept = [reference for reference in item.references if reference["uid"] not in uids]
    return _patch(item, {"ownerReferences": kept or None})


def _without_finalizer(item: Item, finalizer: str) -> Write:
    kept = [name for name in item.finalizers if name != finalizer]
    return _patch(item, {"finalizers": kept or None})


def _patch(item: Item, metadata: JSON) -> Write:
    seen = {"uid": item.uid, "resourceVersion": item.version}
    return Write("PATCH", "", {"metadata": {**metadata, **seen}}, PatchType.MERGE)
