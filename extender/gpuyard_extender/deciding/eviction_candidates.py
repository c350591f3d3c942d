"""Who on a node may have to go for a pod, and what is lost with them, read from the ledger.

Stands for the dry run of kube-scheduler's preemption on its snapshot, with what a nominated pod is owed.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from gpuyard.placing.cluster import Node, Placement
from gpuyard.preempting.stakes import Candidate, Gang, Stakes
from gpuyard_extender.deciding import feasibility
from gpuyard_extender.ledger.budgets import Budget
from gpuyard_extender.ledger.claims import Claim
from gpuyard_extender.ledger.ledger import Ledger
from gpuyard_extender.ledger.pods import Pod
from gpuyard_kube.timestamps import seconds


def held(name: str, ledger: Ledger) -> Iterator[tuple[Pod, Claim]]:
    """The pods that are bound to the node, with what they take there."""
    for uid, claim in ledger.holdings.claims(name).items():
        pod = ledger.pods.get(uid)
        if pod is not None and pod.node == name:
            yield pod, claim


def placement_of(uid: str, claim: Claim) -> Placement:
    """Which container and which resource a device is for is of no interest here."""
    devices = tuple(sorted(claim.held | claim.promised))
    return Placement(uid, claim.node, {"": {"": devices}}, claim.booked, claim.limits)


def candidate(pod: Pod, placement: Placement, budgets: Sequence[Budget]) -> Candidate:
    """The pod as one who may have to go; `budgets` are those of the whole cluster."""
    covering = frozenset(found.key for found in budgets if found.covers(pod))
    # One that does not say when it was started is the oldest.
    return Candidate(pod.priority, placement, gang_of(pod), covering, seconds(pod.started) or 0.0)


def lost_before(besides: Collection[str], ledger: Ledger) -> Stakes:
    """What is left of budgets once those are gone who go for other pods than these (UIDs), and who they are.

    Who terminates has been counted by whoever keeps a budget's status.
    """
    gone = going(None, besides, ledger)
    leaving = [pod for uid in gone if (pod := ledger.pods.get(uid)) is not None and not pod.terminating]
    allowed = {
        found.key: max(0, found.allowed - sum(map(found.covers, leaving))) for found in ledger.budgets.all()
    }
    return Stakes(allowed=allowed, gone=gone)


def stakes(pods: Iterable[Pod], before: Stakes, ledger: Ledger) -> Stakes:
    """What else is lost with these pods, by what is lost before."""
    gangs = {}
    for namespace, name in {(pod.namespace, pod.group) for pod in pods if pod.group}:
        group = ledger.groups.named(namespace, name)
        if group is not None:
            staying = (it for it in ledger.members(namespace, name) if it.node and it.uid not in before.gone)
            gangs[f"{namespace}/{name}"] = Gang(sum(1 for _ in staying), group.needed)
    return replace(before, gangs=gangs)


def gang_of(pod: Pod) -> str:
    """Its gang in the whole cluster; empty for a pod alone."""
    return f"{pod.namespace}/{pod.group}" if pod.group else ""


def nominated(name: str, priority: int, besides: Collection[str], ledger: Ledger) -> list[Pod]:
    """Pods for which place was made on the node already, and that one of this priority must not pass over.

    Not those with a claim: that is counted where they are expected.
    """
    return [
        other
        for other in ledger.nominated.at(name)
        if other.priority >= priority
        and other.uid not in besides
        and ledger.holdings.claim(other.uid) is None
    ]


def going(priority: int | None, besides: Collection[str], ledger: Ledger) -> set[str]:
    """UIDs of those that go for others, who are expected in their places: for one of this priority they went already.

    So nobody is sent away for two, and whoever comes second gets a place of its own. None: for whomever.
    """
    heeded = (
        found
        for uid, found in ledger.expectations.items()
        if (priority is None or found.priority >= priority)
        and uid not in besides
        and ledger.holdings.is_expected(uid)
    )
    return {uid for found in heeded for uid in found.victims}


def with_nominated(node: Node, pods: Sequence[Pod]) -> Node:
    """The node with those of them on it that fit."""
    for pod in pods:
        verdict = feasibility.judge(pod, node, None)
        if isinstance(verdict, Placement):
            node = node.taking(verdict)
    return node
