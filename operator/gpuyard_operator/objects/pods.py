"""What is kept of a pod: where it belongs, what it holds, and the whole of it where it is a member.

Stands for the transform functions of client-go's informers: a cluster has far more pods than members, and of those
that are none a few facts are enough. Law: a pod holds its node and devices until it has ended or is gone.
"""

from dataclasses import dataclass, field

from gpuyard import vocabulary
from gpuyard.annotations import ids, read_allocation
from gpuyard.auditing import accounts
from gpuyard.pods import memberships
from gpuyard.pods.amounts import Amounts, requests_of
from gpuyard.pods.phases import has_ended
from gpuyard.writes import JSON
from gpuyard_kube.store import uid_of
from gpuyard_operator.objects import members
from gpuyard_operator.objects.groups import Key


@dataclass(frozen=True, slots=True)
class PodFacts:
    """`obj` is the Pod object where it has a `group`; the others are what it holds, and how important that is."""

    uid: str
    group: Key | None = None
    obj: JSON | None = None
    passed_over: tuple[Key, ...] = ()
    """The groups that it claims too, until it has ended."""
    node: str = ""
    devices: frozenset[str] = frozenset()
    priority: int = 0
    leaving: bool = False
    requests: Amounts = field(default_factory=dict)
    """What kube-scheduler counts for it, where it asks for devices, on whatever node it is or will be."""


def read(pod: JSON) -> PodFacts:
    """The facts in a Pod object, as far as they can be understood."""
    uid, group, member = uid_of(pod) or "", _group(pod), members.read(pod)
    obj = pod if group is not None else None
    if member is None or has_ended(pod):
        return PodFacts(uid, group, obj)
    others = tuple((member.namespace, name) for name in memberships.claims(pod)[1:])
    requests, priority = _requests(pod) if member.guarded else {}, member.priority
    if not member.node:
        return PodFacts(uid, group, obj, others, priority=priority, requests=requests)
    return PodFacts(
        uid, group, obj, others, member.node, _devices(pod), priority, member.terminating, requests
    )


def _group(pod: JSON) -> Key | None:
    """The group that a pod claims, in its own namespace; one that is stuck alone is a group of its own."""
    claimed = memberships.claimed(pod)
    if claimed is None and members.is_stuck(pod):
        claimed = memberships.alone(uid_of(pod) or "")
    return (str(pod["metadata"].get("namespace", "")), claimed) if claimed else None


def _requests(pod: JSON) -> Amounts:
    try:
        return requests_of(pod)
    except (AttributeError, TypeError):
        return {}


def _devices(pod: JSON) -> frozenset[str]:
    """As the kubelet says, or else the plan."""
    try:
        plan = read_allocation((pod["metadata"].get("annotations") or {}).get(vocabulary.ALLOCATION)) or {}
        return ids({**plan, **accounts.truth(pod)})
    except (AttributeError, KeyError, TypeError):
        return frozenset()
