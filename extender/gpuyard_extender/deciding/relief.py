"""Whether somebody who was to go for a gang need not any more, by what has become free while that was found out.

Stands for the Filter that kube-scheduler runs once more before it nominates. Law: it errs on one side only: where
nothing has become free that the gang had too little of, all victims are still needed.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from gpuyard.placing.cluster import Cluster, Node, Placement
from gpuyard.pods.fit import Amounts
from gpuyard.preempting.capacity import Capacity
from gpuyard_extender.deciding.evicting import Room, Tenancy
from gpuyard_extender.deciding.eviction_candidates import placement_of
from gpuyard_extender.deciding.searching import Search
from gpuyard_extender.ledger.groups import placeable
from gpuyard_extender.ledger.ledger import Ledger

_Leaving = Mapping[str, Sequence[Placement]]


def may_spare(search: Search, tenancy: Tenancy, room: Room, ledger: Ledger, now: float) -> bool:
    """Whether some node that the pods are meant for has more for them than in the search, or is new."""
    ledger.expire(now)
    then, later = _leaving_then(tenancy), _leaving_now(tenancy, room, ledger)
    wanted = sum((Counter(pod.fit.requests) for pod in search.pods), Counter[str]())
    yielding, freer = ledger.yielding(search.pods), dict[str, Node]()
    for name in ledger.holdings.changed_since(search.change) | later.keys():
        node, before = ledger.node(name, now, yielding), search.cluster.nodes.get(name)
        node, before = _without(node, later), _without(before, then)
        if node is not None and (before is None or _is_freer(node, before, wanted)):
            freer[name] = node
    return bool(freer and Capacity.of(placeable(search.pods), Cluster(freer)).nodes)


def _leaving_then(tenancy: Tenancy) -> _Leaving:
    """By node: what those hold who were on their way out, as good as gone."""
    found = defaultdict[str, list[Placement]](list)
    for pod, claim in tenancy.held:
        if pod.terminating:
            found[claim.node].append(placement_of(pod.uid, claim))
    return found


def _leaving_now(tenancy: Tenancy, room: Room, ledger: Ledger) -> _Leaving:
    """The same for this moment, but for those victims who were to be sent away."""
    found, victims = defaultdict[str, list[Placement]](list), {victim.uid for victim in room.victims}
    for before, _ in tenancy.held:
        pod, claim = ledger.pods.get(before.uid), ledger.holdings.claim(before.uid)
        if pod is None or claim is None or not pod.terminating:
            continue
        if before.terminating or pod.uid not in victims:
            found[claim.node].append(placement_of(pod.uid, claim))
    return found


def _without(node: Node | None, leaving: _Leaving) -> Node | None:
    return node.releasing(*leaving[node.name]) if node is not None and node.name in leaving else node


def _is_freer(node: Node, before: Node, wanted: Amounts) -> bool:
    """Whether it has more of what it had too little of for all that is wanted, or takes pods that it did not take."""
    if replace(node.fit, allocatable={}) != replace(before.fit, allocatable={}):
        return True
    for name, amount in wanted.items():
        if _left(before, name) < min(amount, _left(node, name)):
            return True
        if not set(node.free(name)) <= set(before.free(name)):
            return True
    return False


def _left(node: Node, name: str) -> int:
    return node.fit.allocatable.get(name, 0) - node.used.get(name, 0)
