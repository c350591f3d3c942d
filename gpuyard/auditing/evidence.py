"""What an audit looks at: the objects of one moment as values, and beside them what the parts say of themselves.

Stands for nothing in Kubernetes. Law: an object that cannot be read is no evidence; the audit goes on without it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from gpuyard import annotations, vocabulary
from gpuyard.annotations import Allocation
from gpuyard.auditing import accounts
from gpuyard.auditing.accounts import LedgerAccount, NodeAccounts
from gpuyard.groups import reservations
from gpuyard.hardware.inventory import Inventory
from gpuyard.pods import amounts, limits, memberships, requests
from gpuyard.pods.fit import Amounts
from gpuyard.pods.limits import Limits
from gpuyard.pods.phases import has_ended
from gpuyard.pods.requests import PodRequest, Want
from gpuyard.verdicts import SCHEDULED
from gpuyard.writes import JSON


@dataclass(frozen=True, slots=True)
class AuditedPod:
    """One pod. `node` is empty until it is bound; `asked` counts its GPU devices by resource.

    `limits` say how much of its GPU its share may use.
    `admitted`: the kubelet has begun to speak of its containers; all of them have their devices.
    """

    uid: str
    label: str
    node: str = ""
    ended: bool = False
    admitted: bool = False
    wants: tuple[Want, ...] = ()
    limits: Limits = limits.NONE
    asked: Amounts = field(default_factory=dict)
    plan: Allocation | None = None
    truth: Allocation = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AuditedNode:
    """One node: how many GPU devices there are by resource, sick ones included. `inventory` None: only counts."""

    name: str
    inventory: Inventory | None
    offered: Amounts


@dataclass(frozen=True, slots=True)
class AuditedGroup:
    """A PodGroup: `placed` members are bound or have succeeded, `holding` are bound and stay; `needed` is minMember.

    `started`: it says itself that enough were bound together once; some may have ended or been deleted since.
    """

    label: str
    needed: int
    placed: int
    holding: int
    started: bool


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything of one moment. `ledger` None: no extender answered; `plugins` holds the nodes that answered.

    `seated`: UIDs to which a Reservation gives a place, whether or not their pods are still there.
    """

    nodes: Mapping[str, AuditedNode]
    pods: Mapping[str, AuditedPod]
    groups: tuple[AuditedGroup, ...] = ()
    seated: frozenset[str] = frozenset()
    ledger: LedgerAccount | None = None
    plugins: Mapping[str, NodeAccounts] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Objects:
    """API objects of one moment, of all namespaces."""

    nodes: tuple[JSON, ...] = ()
    pods: tuple[JSON, ...] = ()
    groups: tuple[JSON, ...] = ()
    reservations: tuple[JSON, ...] = ()


def evidence(objects: Objects, ledger: LedgerAccount | None, plugins: Mapping[str, NodeAccounts]) -> Evidence:
    """The evidence of a moment."""
    pods = [read for pod in objects.pods if (read := _pod(pod)) is not None]
    recorded = map(reservations.from_object, objects.reservations)
    return Evidence(
        nodes={node.name: node for node in map(_node, objects.nodes)},
        pods={pod.uid: pod for pod in pods},
        groups=tuple(_group(group, objects.pods) for group in objects.groups),
        seated=frozenset(seat.uid for found in recorded if found for seat in found.seats),
        ledger=ledger,
        plugins=plugins,
    )


def plays_gpus(node: JSON) -> bool:
    """Whether our device plugin serves this node, by its label."""
    labels = node["metadata"].get("labels") or {}
    return bool(labels.get(vocabulary.FAKE_GPUS) == "true")


def _pod(pod: JSON) -> AuditedPod | None:
    metadata, status = pod["metadata"], pod.get("status") or {}
    request, phase = requests.parse(pod), status.get("phase")
    started = status.get("containerStatuses") or status.get("initContainerStatuses")
    plan = (metadata.get("annotations") or {}).get(vocabulary.ALLOCATION)
    try:
        truth = accounts.truth(pod)
    except (AttributeError, KeyError, TypeError):
        return None
    return AuditedPod(
        uid=metadata["uid"],
        label=f"{metadata['namespace']}/{metadata['name']}",
        node=(pod.get("spec") or {}).get("nodeName") or "",
        ended=has_ended(pod),
        admitted=bool(started) or phase == "Running",
        wants=request.wants if isinstance(request, PodRequest) else (),
        limits=request.wishes.limits if isinstance(request, PodRequest) else limits.NONE,
        asked=_of_devices(amounts.requests_of(pod)),
        plan=annotations.read_allocation(plan),
        truth=truth,
    )


def _node(node: JSON) -> AuditedNode:
    metadata = node["metadata"]
    inventory = annotations.read_inventory((metadata.get("annotations") or {}).get(vocabulary.INVENTORY))
    if inventory is not None:
        return AuditedNode(
            metadata["name"], inventory, Counter(device.resource for device in inventory.devices())
        )
    capacity = (node.get("status") or {}).get("capacity")
    return AuditedNode(metadata["name"], None, _of_devices(amounts.read(capacity)))


def _group(group: JSON, pods: Iterable[JSON]) -> AuditedGroup:
    members = list(_members(group, pods))
    conditions = (group.get("status") or {}).get("conditions") or ()
    return AuditedGroup(
        label=f"{group['metadata']['namespace']}/{group['metadata']['name']}",
        needed=memberships.min_member(group),
        placed=sum(_phase(pod) != "Failed" for pod in members),
        holding=sum(not has_ended(pod) and not pod["metadata"].get("deletionTimestamp") for pod in members),
        started=any((c.get("type"), c.get("status")) == (SCHEDULED, "True") for c in conditions),
    )


def _members(group: JSON, pods: Iterable[JSON]) -> Iterator[JSON]:
    """Those that are bound."""
    metadata = group["metadata"]
    for pod in pods:
        here = (pod["metadata"]["namespace"], memberships.group_of(pod)) == (
            metadata["namespace"],
            metadata["name"],
        )
        if here and (pod.get("spec") or {}).get("nodeName"):
            yield pod


def _phase(pod: JSON) -> str:
    return str((pod.get("status") or {}).get("phase"))


def _of_devices(found: Amounts) -> dict[str, int]:
    return {resource: amount for resource, amount in found.items() if requests.is_device_resource(resource)}
