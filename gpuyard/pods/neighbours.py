"""What of one pod keeps another off its node, beside what it books.

Stands for the plugins NodePorts, InterPodAffinity (its anti-affinity), PodTopologySpread, VolumeRestrictions and
NodeVolumeLimits. Not for required affinity: no pod has to go so that another one has company. Law: what it would take
more of the cluster to know counts as in the way.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gpuyard.pods import affinity
from gpuyard.pods.affinity import Requirement
from gpuyard.writes import JSON

_ANY_ADDRESS: Final = "0.0.0.0"
_UNATTACHED: Final = frozenset(
    {"configMap", "downwardAPI", "emptyDir", "gitRepo", "hostPath", "image", "projected", "secret"}
)
"""The volumes of which a node has no number, and that no two pods fight for."""


@dataclass(frozen=True, slots=True)
class HostPort:
    """A port of the node itself, at one of its addresses or at all."""

    protocol: str
    address: str
    number: int

    def clashes(self, other: "HostPort") -> bool:
        at_one = self.address == other.address or _ANY_ADDRESS in (self.address, other.address)
        return at_one and (self.protocol, self.number) == (other.protocol, other.number)


@dataclass(frozen=True, slots=True)
class Selection:
    """Pods by label, in these namespaces (None: nobody knows which)."""

    wishes: tuple[Requirement, ...] | None
    namespaces: frozenset[str] | None

    def holds(self, pod: "Neighbour") -> bool:
        """`wishes` None: it selects no pod."""
        if self.wishes is None or (self.namespaces is not None and pod.namespace not in self.namespaces):
            return False
        return all(wish.matches(pod.labels) for wish in self.wishes)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """What others on its node mind in a pod, and what it minds in them (`shuns`, `spreads`: it has to)."""

    namespace: str
    labels: Mapping[str, str]
    ports: tuple[HostPort, ...] = ()
    shuns: tuple[Selection, ...] = ()
    spreads: tuple[Selection, ...] = ()
    attaches: bool = False
    """Whether it has volumes that can be too many for a node, or another pod's."""

    @classmethod
    def of(cls, pod: JSON) -> "Neighbour":
        """From a Pod object."""
        metadata, spec = pod.get("metadata") or {}, pod.get("spec") or {}
        namespace = str(metadata.get("namespace") or "default")
        volumes = (found.keys() - {"name"} for found in spec.get("volumes") or ())
        return cls(
            namespace,
            dict(metadata.get("labels") or {}),
            tuple(_ports(spec)),
            tuple(_shunned(spec, namespace)),
            tuple(_spread(spec, namespace)),
            any(kinds - _UNATTACHED for kinds in volumes),
        )


def may_exclude(one: Neighbour, other: Neighbour) -> bool:
    """Whether `one`, which is to come, may have to wait for `other` to leave the node."""
    if any(mine.clashes(theirs) for mine in one.ports for theirs in other.ports):
        return True
    minded = any(said.holds(other) for said in (*one.shuns, *one.spreads))
    return minded or any(said.holds(one) for said in other.shuns) or (one.attaches and other.attaches)


def _ports(spec: JSON) -> Iterator[HostPort]:
    for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
        for port in container.get("ports") or ():
            if number := port.get("hostPort"):
                address = port.get("hostIP") or _ANY_ADDRESS
                yield HostPort(str(port.get("protocol") or "TCP"), str(address), int(number))


def _shunned(spec: JSON, namespace: str) -> Iterator[Selection]:
    found = (spec.get("affinity") or {}).get("podAntiAffinity") or {}
    for term in found.get("requiredDuringSchedulingIgnoredDuringExecution") or ():
        named = frozenset(map(str, term.get("namespaces") or (namespace,)))
        # Which namespaces have which labels is not known here.
        where = named if term.get("namespaceSelector") is None else None
        yield Selection(_wishes(term.get("labelSelector")), where)


def _spread(spec: JSON, namespace: str) -> Iterable[Selection]:
    for found in spec.get("topologySpreadConstraints") or ():
        if found.get("whenUnsatisfiable") != "ScheduleAnyway":
            wishes = _wishes(found.get("labelSelector"))
            yield Selection(wishes, frozenset({namespace}))


def _wishes(selector: Any) -> tuple[Requirement, ...] | None:
    return None if selector is None else affinity.selected(selector)
