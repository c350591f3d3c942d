"""The verbs Filter and Prioritize, as functions of the ledger.

Stands for the scheduling cycle. kube-scheduler filters the next pod before the Bind of the last one arrives, and
has no Reserve verb: so the node that is ranked first is assumed at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gpuyard import fit, scoring
from gpuyard.cluster import Cluster, Placement
from gpuyard.reservations import Seat
from gpuyard.scoring import Policy
from gpuyard.verdicts import Reason, Rejection
from gpuyard_extender import feasibility
from gpuyard_extender.claims import Grade
from gpuyard_extender.ledger import Ledger
from gpuyard_extender.pods import Pod


@dataclass(frozen=True, slots=True)
class Filtered:
    """The nodes that pass, with what the pod would get there, and why the others do not; in the order asked."""

    passed: tuple[Placement, ...]
    rejected: tuple[Rejection, ...]


def judge_all(pod: Pod, names: Sequence[str], cluster: Cluster, seat: Seat | None) -> Filtered:
    """The verdicts on the nodes `names`."""
    passed, rejected = [], []
    for name in names:
        node = cluster.nodes.get(name)
        if node is None:
            rejected.append(Rejection(name, Reason.NODE_NOT_READY, "the extender has not seen the node"))
            continue
        verdict = feasibility.judge(pod, node, seat)
        if isinstance(verdict, Placement):
            passed.append(verdict)
        else:
            rejected.append(verdict)
    return Filtered(tuple(passed), tuple(rejected))


def judge_now(pod: Pod, names: Sequence[str], ledger: Ledger, now: float) -> Filtered:
    """The verdicts by the ledger as it is now, in which the pod's own claim does not count."""
    seated = ledger.seat(pod.uid, now)
    return judge_all(pod, names, ledger.cluster(now, {pod.uid}), seated[1] if seated else None)


def filter_nodes(pod: Pod, names: Sequence[str], ledger: Ledger, now: float) -> Filtered:
    """Which nodes can take the pod. With one survivor kube-scheduler asks no more: it is assumed here."""
    ledger.forget(pod.uid, Grade.TENTATIVE)
    filtered = judge_now(pod, names, ledger, now)
    if len(filtered.passed) == 1:
        _assume(filtered.passed[0], ledger, now)
    return filtered


def prioritize(pod: Pod, names: Sequence[str], ledger: Ledger, policy: Policy, now: float) -> dict[str, int]:
    """A rank for each node, n for the best to 1: no two are equal, so kube-scheduler has no choice left.

    Nodes that filled up since Filter come last.
    """
    ledger.forget(pod.uid, Grade.TENTATIVE)
    filtered = judge_now(pod, names, ledger, now)
    ranked = _rank(pod, filtered.passed, ledger.cluster(now, {pod.uid}), policy)
    if ranked:
        _assume(ranked[0], ledger, now)
    order = [placement.node for placement in ranked] + sorted(found.node for found in filtered.rejected)
    return {name: len(order) - place for place, name in enumerate(order)}


def _rank(pod: Pod, passed: Sequence[Placement], cluster: Cluster, policy: Policy) -> tuple[Placement, ...]:
    """Best first."""
    if isinstance(pod.request, Rejection):
        return ()
    nodes = [cluster.nodes[placement.node] for placement in passed]
    candidates = [(node, placement.allocation) for node, placement in zip(nodes, passed, strict=True)]
    scores = policy(scoring.columns(candidates, pod.request))
    preferences = [fit.preference(pod.fit, node.fit) for node in nodes]
    ranks = scoring.rank([node.name for node in nodes], scores, preferences)
    ranked = sorted(zip(ranks, passed, strict=True), key=lambda pair: -pair[0])
    return tuple(placement for _, placement in ranked)


def _assume(placement: Placement, ledger: Ledger, now: float) -> None:
    """An assumption that is surer than this one stays."""
    if ledger.assumption(placement.uid, now) is None:
        ledger.assume(placement, Grade.TENTATIVE, now)
