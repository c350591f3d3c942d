"""Whether a pod fits a node by everything but its devices: kube-scheduler's in-tree filters.

Stands for the plugins NodeUnschedulable, NodeName, TaintToleration, NodeAffinity and NodeResourcesFit, in that order:
the first plugin that refuses ends the check, and NodeResourcesFit reports every resource that is short. Law: a
resource is a name and a number here, GPUs included; this module names none of them.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass

from gpuyard.pods import amounts
from gpuyard.pods.affinity import Taint, Term, Toleration
from gpuyard.pods.amounts import Amounts, requests_of
from gpuyard.verdicts import Reason
from gpuyard.writes import JSON

__all__ = [
    "Amounts",
    "NodeFit",
    "PodFit",
    "Shortfall",
    "Taint",
    "Term",
    "Toleration",
    "check",
    "misplaced",
    "preference",
    "requests_of",
]

_CORDONED = Taint("node.kubernetes.io/unschedulable")
_NOT_READY = Taint("node.kubernetes.io/not-ready")
_LIFECYCLE_TAINTS = frozenset({_NOT_READY.key, _CORDONED.key, "node.kubernetes.io/unreachable"})


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Why a node does not do, in kube-scheduler's own words; `resource` names what is short, if anything."""

    reason: Reason
    text: str
    resource: str = ""


@dataclass(frozen=True, slots=True)
class NodeFit:
    """What the filters look at in a node."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    unschedulable: bool
    ready: bool
    allocatable: Amounts

    @classmethod
    def of(cls, node: JSON) -> "NodeFit":
        """From a Node object; bad quantities count as 0. Ready unless a condition says that it is not."""
        spec, status = node.get("spec") or {}, node.get("status") or {}
        metadata = node.get("metadata") or {}
        conditions = status.get("conditions") or ()
        return cls(
            name=str(metadata.get("name", "")),
            labels=metadata.get("labels") or {},
            taints=tuple(Taint.of(found) for found in spec.get("taints") or ()),
            unschedulable=spec.get("unschedulable") is True,
            ready=all(found.get("status") == "True" for found in conditions if found.get("type") == "Ready"),
            allocatable=amounts.read(status.get("allocatable")),
        )


@dataclass(frozen=True, slots=True)
class PodFit:
    """What the filters look at in a pod. `affinity_terms` None: no required affinity; empty: no node matches."""

    requests: Amounts
    node_selector: Mapping[str, str]
    affinity_terms: tuple[Term, ...] | None
    preferred_terms: tuple[tuple[int, Term], ...]
    tolerations: tuple[Toleration, ...]
    node_name: str

    @classmethod
    def of(cls, pod: JSON) -> "PodFit":
        """From a Pod object."""
        spec = pod.get("spec") or {}
        affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
        required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
        preferred = affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        return cls(
            requests=requests_of(pod),
            node_selector={key: str(found) for key, found in (spec.get("nodeSelector") or {}).items()},
            affinity_terms=None
            if required is None
            else tuple(Term.of(found) for found in required.get("nodeSelectorTerms") or ()),
            preferred_terms=tuple(
                (int(found.get("weight", 0)), Term.of(found.get("preference"))) for found in preferred
            ),
            tolerations=tuple(Toleration.of(found) for found in spec.get("tolerations") or ()),
            node_name=str(spec.get("nodeName") or ""),
        )

    @property
    def wishes(self) -> Hashable:
        """All but the requests: pods with equal wishes are meant for the same nodes."""
        selector = tuple(sorted(self.node_selector.items()))
        return selector, self.affinity_terms, self.preferred_terms, self.tolerations, self.node_name

    @property
    def label_keys(self) -> tuple[str, ...]:
        """The labels by which it may tell nodes apart."""
        terms = (*(self.affinity_terms or ()), *(term for _, term in self.preferred_terms))
        keys = {*self.node_selector, *(wish.key for term in terms for wish in term.labels)}
        return tuple(sorted(keys))

    @property
    def names_nodes(self) -> bool:
        """Whether it tells nodes apart by their names."""
        terms = (*(self.affinity_terms or ()), *(term for _, term in self.preferred_terms))
        return bool(self.node_name) or any(term.fields for term in terms)

    def tolerates(self, taint: Taint) -> bool:
        return any(toleration.tolerates(taint) for toleration in self.tolerations)


def check(pod: PodFit, node: NodeFit, used: Amounts) -> tuple[Shortfall, ...]:
    """Why `pod` does not fit `node`, of which `used` is booked; empty when it fits."""
    found = misplaced(pod, node)
    return (found,) if found else tuple(_short(pod.requests, node.allocatable, used))


def misplaced(pod: PodFit, node: NodeFit) -> Shortfall | None:
    """Why `pod` is not meant for `node`, however much is free there; None when it is."""
    return _cordoned(pod, node) or _named(pod, node) or _tainted(pod, node) or _unmatched(pod, node)


def preference(pod: PodFit, node: NodeFit) -> int:
    """The sum of the weights of the preferred node affinity terms that the node meets."""
    return sum(weight for weight, term in pod.preferred_terms if term.matches(node.name, node.labels))


def _cordoned(pod: PodFit, node: NodeFit) -> Shortfall | None:
    if not node.unschedulable or pod.tolerates(_CORDONED):
        return None
    return Shortfall(Reason.NODE_NOT_READY, "node(s) were unschedulable")


def _named(pod: PodFit, node: NodeFit) -> Shortfall | None:
    if pod.node_name in ("", node.name):
        return None
    return Shortfall(Reason.NODE_AFFINITY_MISMATCH, "node(s) didn't match the requested node name")


def _tainted(pod: PodFit, node: NodeFit) -> Shortfall | None:
    """A node that is not ready counts as tainted: the taint follows its condition within a moment."""
    taints = node.taints if node.ready else (*node.taints, _NOT_READY)
    repelling = next((taint for taint in taints if taint.repels and not pod.tolerates(taint)), None)
    if repelling is None:
        return None
    sick = repelling.key in _LIFECYCLE_TAINTS
    return Shortfall(
        Reason.NODE_NOT_READY if sick else Reason.TAINT_NOT_TOLERATED, "node(s) had untolerated taint(s)"
    )


def _unmatched(pod: PodFit, node: NodeFit) -> Shortfall | None:
    selected = all(node.labels.get(key) == value for key, value in pod.node_selector.items())
    terms = pod.affinity_terms
    if selected and (terms is None or any(term.matches(node.name, node.labels) for term in terms)):
        return None
    return Shortfall(Reason.NODE_AFFINITY_MISMATCH, "node(s) didn't match Pod's node affinity/selector")


def _short(requests: Amounts, allocatable: Amounts, used: Amounts) -> Iterator[Shortfall]:
    for resource, amount in sorted(requests.items()):
        if amount and amount > allocatable.get(resource, 0) - used.get(resource, 0):
            text = "Too many pods" if resource == amounts.PODS else f"Insufficient {resource}"
            yield Shortfall(Reason.INSUFFICIENT_RESOURCES, text, resource)
