"""Devices with several owners, by any account.

Stands for the law that no scheduler and no kubelet may break. Two owners: two pods, or two containers that run at the
same time, hold one device, or devices that overlap on one GPU. Containers of one pod may share in the accounts that
name init containers too, because later ones use again what those leave behind.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from gpuyard.annotations import Allocation, ids
from gpuyard.auditing.evidence import AuditedNode, AuditedPod, Evidence
from gpuyard.auditing.findings import KUBELET, LEDGER, PLAN, PLUGIN, STATUS, Finding, Flaw, said
from gpuyard.hardware.inventory import Device


@dataclass(frozen=True, slots=True, order=True)
class _Owner:
    """A pod, or one of its containers where the account tells them apart and they run together."""

    pod: str
    container: str = ""

    def excludes(self, other: "_Owner") -> bool:
        if self.pod != other.pod:
            return True
        return bool(self.container and other.container) and self.container != other.container


_Claims = Mapping[str, Mapping[_Owner, set[str]]]
"""Device id -> owner -> the accounts that say so."""


def several_owners(node: AuditedNode, evidence: Evidence) -> Iterator[Finding]:
    """The devices of a node that have several owners among the pods bound to it."""
    claims = _claims(node, evidence)
    for device, owners in sorted(claims.items()):
        if any(one.excludes(other) for one, other in combinations(owners, 2)):
            yield _finding(node, device, [owners])
    for first, second in _overlapping(node, claims):
        if any(one.excludes(other) for one in claims[first] for other in claims[second]):
            yield _finding(node, f"{first} and {second}", [claims[first], claims[second]])


def _claims(node: AuditedNode, evidence: Evidence) -> _Claims:
    claims: dict[str, dict[_Owner, set[str]]] = defaultdict(lambda: defaultdict(set))
    for pod in evidence.pods.values():
        if pod.node == node.name and not pod.ended:
            for owner, account, devices in _of_pod(pod, evidence):
                for device in devices:
                    claims[device][owner].add(account)
    return claims


def _of_pod(pod: AuditedPod, evidence: Evidence) -> Iterator[tuple[_Owner, str, Iterable[str]]]:
    whole, told = _Owner(pod.label), evidence.plugins.get(pod.node)
    yield from _each(pod, STATUS, pod.truth)
    if told is not None:
        yield from _each(pod, KUBELET, (told.kubelet or {}).get(pod.uid, {}))
        yield whole, PLUGIN, ids(told.plugin.get(pod.uid, {}))
    # Truth beats plan: of a container that has got its devices, the plan claims nothing any more.
    open_plan = {name: held for name, held in (pod.plan or {}).items() if name not in pod.truth}
    yield whole, PLAN, ids(open_plan)
    stake = (evidence.ledger or {}).get(pod.node, {}).get(pod.uid)
    yield whole, LEDGER, stake.devices if stake else ()


def _each(pod: AuditedPod, account: str, held: Allocation) -> Iterator[tuple[_Owner, str, Iterable[str]]]:
    for container, resources in held.items():
        yield _Owner(pod.label, container), account, ids({container: resources})


def _overlapping(node: AuditedNode, claims: _Claims) -> Iterator[tuple[str, str]]:
    """Different claimed devices of one GPU that cannot have different owners."""
    by_gpu: dict[int, list[Device]] = defaultdict(list)
    for device in node.inventory.devices() if node.inventory else ():
        if device.id in claims:
            by_gpu[device.gpu].append(device)
    for devices in by_gpu.values():
        for one, other in combinations(devices, 2):
            if one.id != other.id and one.overlaps(other):
                yield one.id, other.id


def _finding(node: AuditedNode, subject: str, claims: Iterable[Mapping[_Owner, set[str]]]) -> Finding:
    says = {
        f"{owner.pod} {owner.container}".strip(): said(accounts)
        for owners in claims
        for owner, accounts in sorted(owners.items())
    }
    return Finding(Flaw.SEVERAL_OWNERS, node.name, subject, says)
