"""Whether all who keep account of devices say the same: kubelet, pod status, plan, ledger, device plugin.

Stands for a reconciliation in bookkeeping. Law: what the kubelet gave is true; whoever says otherwise is
wrong, and a plan that did not come true is a finding of its own. What an account may be silent about:

    account   says                                             may be silent about
    status    app containers                                   init containers and sidecars: the kubelet never reports
                                                               them; ended pods: not reliable
    kubelet   app containers and sidecars (PodResources)       init containers: not listed
    plugin    all containers that it served                    init containers and sidecars served before it started
    plan      all containers, where the node has an inventory
    ledger    all containers: the status's word, else the plan

(Seen on 1.36.3.) A pod that is bound but of which the kubelet says nothing yet has a plan and a place in the ledger;
the others may be ahead of each other. Containers of one pod may exchange what its init containers left behind: the
kubelet then asks nobody, and chooses at random. A ledger also holds devices for pods that wait: assumed ones, and
those that a Reservation seats.
"""

from collections.abc import Iterator

from gpuyard.annotations import Allocation, ids
from gpuyard.auditing.accounts import NodeAccounts, Stake
from gpuyard.auditing.evidence import AuditedGroup, AuditedNode, AuditedPod, Evidence
from gpuyard.auditing.findings import INVENTORY, KUBELET, LEDGER, PLAN, PLUGIN, STATUS, Finding, Flaw, said
from gpuyard.auditing.overcommitment import ASKED, over_committed
from gpuyard.auditing.ownership import several_owners
from gpuyard.hardware.inventory import Inventory, MigStrategy
from gpuyard.pods.fit import Amounts
from gpuyard.pods.requests import ContainerKind, Want


def audit(evidence: Evidence) -> tuple[Finding, ...]:
    """Everything that is wrong at this moment; empty when all accounts agree."""
    return tuple(_findings(evidence))


def _findings(evidence: Evidence) -> Iterator[Finding]:
    for node in sorted(evidence.nodes.values(), key=lambda node: node.name):
        pods = [pod for pod in evidence.pods.values() if pod.node == node.name and not pod.ended]
        for pod in sorted(pods, key=lambda pod: pod.label):
            yield from _of_pod(pod, node, evidence)
        yield from several_owners(node, evidence)
        yield from _held_for_nobody(node, evidence)
        yield from over_committed(node, pods)
        if node.inventory is not None and node.name in evidence.plugins:
            yield from _badly_cut(node, node.inventory, evidence.plugins[node.name])
    yield from (_in_part(group) for group in evidence.groups if _is_in_part(group))


def _of_pod(pod: AuditedPod, node: AuditedNode, evidence: Evidence) -> Iterator[Finding]:
    told = evidence.plugins.get(node.name)
    for want in pod.wants if pod.admitted else ():
        says = dict(_served(pod, want, told))
        if len({frozenset(what) for what in says.values()}) > 1:
            subject = f"{pod.label} {want.container} {want.resource}"
            yield _disagreement(node, subject, says)
    if evidence.ledger is not None:
        yield from _by_ledger(pod, node, evidence.ledger.get(node.name, {}).get(pod.uid, Stake()))
    if node.inventory is None or not pod.wants:
        return
    if pod.plan is None:
        yield Finding(Flaw.NO_PLAN, node.name, pod.label, {STATUS: said(ids(pod.truth))})
    elif pod.admitted and not _came_true(pod, pod.plan, told):
        yield Finding(Flaw.PLAN_NOT_SERVED, node.name, pod.label, _plan_and_truth(pod))


def _served(pod: AuditedPod, want: Want, told: NodeAccounts | None) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(account, ids) of those who must know what an admitted container has got."""
    if want.kind is ContainerKind.APP:
        yield STATUS, _given(pod.truth, want)
    if told is None:
        return
    if pod.uid in (told.kubelet or {}) and want.kind is not ContainerKind.INIT:
        yield KUBELET, _given((told.kubelet or {})[pod.uid], want)
    own = _given(told.plugin.get(pod.uid, {}), want)
    if own or want.kind is ContainerKind.APP:
        yield PLUGIN, own


def _by_ledger(pod: AuditedPod, node: AuditedNode, stake: Stake) -> Iterator[Finding]:
    """The ledger has the status's word for each container of which there is one, and the plan's for the others."""
    if stake.devices != ids({**(pod.plan or {}), **pod.truth}):
        says = {**_plan_and_truth(pod), LEDGER: said(stake.devices)}
        yield _disagreement(node, pod.label, says)
    if dict(stake.booked) != dict(pod.asked):
        yield _disagreement(node, pod.label, {ASKED: _counts(pod.asked), LEDGER: _counts(stake.booked)})


def _came_true(pod: AuditedPod, plan: Allocation, told: NodeAccounts | None) -> bool:
    """Whether each container got what was planned, as far as anybody knows."""
    got = {want: set(next((what for _, what in _served(pod, want, told)), ())) for want in pod.wants}
    if any(want.kind is ContainerKind.INIT for want in pod.wants):
        return set().union(*got.values()) <= ids(plan)
    return all(not what or what == set(_given(plan, want)) for want, what in got.items())


def _held_for_nobody(node: AuditedNode, evidence: Evidence) -> Iterator[Finding]:
    told, stakes = evidence.plugins.get(node.name, NodeAccounts()), (evidence.ledger or {}).get(node.name, {})
    held = {
        LEDGER: {uid: said(stake.devices) or _counts(stake.booked) for uid, stake in stakes.items()},
        PLUGIN: {uid: said(ids(containers)) for uid, containers in told.plugin.items()},
        KUBELET: {uid: said(ids(containers)) for uid, containers in (told.kubelet or {}).items()},
    }
    for uid in sorted({uid for holders in held.values() for uid in holders}):
        says = {account: holders[uid] for account, holders in held.items() if holders.get(uid)}
        waits = says.keys() == {LEDGER} and _waits(uid, evidence)
        if says and not waits and not _is_here(uid, node, evidence):
            pod = evidence.pods.get(uid)
            subject = pod.label if pod else f"uid {uid}"
            yield Finding(Flaw.HELD_FOR_NOBODY, node.name, subject, says)


def _is_here(uid: str, node: AuditedNode, evidence: Evidence) -> bool:
    pod = evidence.pods.get(uid)
    return pod is not None and pod.node == node.name and not pod.ended


def _waits(uid: str, evidence: Evidence) -> bool:
    """Whether devices can be kept for a pod that is not bound: until its assumption or its Reservation ends."""
    pod = evidence.pods.get(uid)
    return uid in evidence.seated if pod is None else not pod.node and not pod.ended


def _badly_cut(node: AuditedNode, inventory: Inventory, told: NodeAccounts) -> Iterator[Finding]:
    """Instances on demand are there for whoever holds them, and for nobody else; a sick GPU changes nothing."""
    if inventory.mig_strategy is not MigStrategy.DYNAMIC:
        return
    places = {device.id for device in inventory.devices() if device.size and device.healthy}
    there = places & {instance.uuid for gpu in inventory.gpus for instance in gpu.instances}
    held = places & {device for containers in told.plugin.values() for device in ids(containers)}
    if there != held:
        says = {INVENTORY: said(there - held), PLUGIN: said(held - there)}
        yield Finding(Flaw.INSTANCES_DIFFER, node.name, "MIG", says)


def _is_in_part(group: AuditedGroup) -> bool:
    return not group.started and bool(group.holding) and group.placed < group.needed


def _in_part(group: AuditedGroup) -> Finding:
    says = {"bound": (str(group.placed),), "needed": (str(group.needed),)}
    return Finding(Flaw.GANG_IN_PART, "", f"podgroup {group.label}", says)


def _disagreement(node: AuditedNode, subject: str, says: dict[str, tuple[str, ...]]) -> Finding:
    return Finding(Flaw.ACCOUNTS_DISAGREE, node.name, subject, says)


def _plan_and_truth(pod: AuditedPod) -> dict[str, tuple[str, ...]]:
    return {PLAN: said(ids(pod.plan or {})), STATUS: said(ids(pod.truth))}


def _given(held: Allocation, want: Want) -> tuple[str, ...]:
    return said(held.get(want.container, {}).get(want.resource, ()))


def _counts(amounts: Amounts) -> tuple[str, ...]:
    return said(f"{resource} {count}" for resource, count in amounts.items())
