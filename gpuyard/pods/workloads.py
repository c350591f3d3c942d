"""The pods that objects would bring, before anybody creates them: templates, times replicas.

Stands for the controllers of Deployments, ReplicaSets, StatefulSets and Jobs, as far as their first pods go. Law: an
object is understood, or left out by name, or refused with a ValueError that names its field and the remedy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gpuyard import vocabulary
from gpuyard.writes import JSON

MOST_PODS: Final = 2000
_REPLICATED: Final = frozenset({"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"})
_PODS: Final = frozenset({"Pod", "Job", *_REPLICATED})


@dataclass(frozen=True, slots=True)
class Workload:
    """`replicas` pods like `pod`, a Pod object that is described at `field` of the request."""

    kind: str
    namespace: str
    name: str
    field: str
    pod: JSON
    replicas: int

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"

    def pods(self) -> tuple[JSON, ...]:
        """The Pod objects, with names and UIDs of their own."""
        names = [self.name] if self.kind == "Pod" else [f"{self.name}-{i}" for i in range(self.replicas)]
        return tuple(self._named(name) for name in names)

    def _named(self, name: str) -> JSON:
        marks = {"name": name, "namespace": self.namespace, "uid": f"simulated {self} {name}"}
        return {**self.pod, "metadata": {**self.pod["metadata"], **marks}}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a list of objects asks for."""

    workloads: tuple[Workload, ...]
    groups: Mapping[tuple[str, str], JSON]
    """The PodGroups, by namespace and name."""
    queues: tuple[JSON, ...]
    ignored: tuple[str, ...]
    """Objects that bring no pods that we know of, as `Kind namespace/name`, or without a namespace."""


def read(objects: Sequence[Any]) -> Wanted:
    """What these decoded objects ask for."""
    workloads: list[Workload] = []
    groups: dict[tuple[str, str], JSON] = {}
    queues: list[JSON] = []
    ignored: list[str] = []
    for field, obj in _flat(objects, "objects", nested=True):
        kind, metadata = _text(obj, "kind", field), _part(obj, "metadata", field)
        named = "generateName" if metadata.get("generateName") and not metadata.get("name") else "name"
        name = _text(metadata, named, f"{field}.metadata").rstrip("-")
        namespace = str(metadata.get("namespace") or "default")
        if kind in _PODS:
            workloads.append(_workload(obj, (kind, namespace, name), field))
        elif kind == "PodGroup":
            _count(_part(obj, "spec", field), "minMember", 1, f"{field}.spec")
            groups[namespace, name] = obj
        elif kind == "Queue" and str(obj.get("apiVersion", vocabulary.GROUP)).startswith(vocabulary.GROUP):
            queues.append(obj)
        else:
            ignored.append(f"{kind} {f'{namespace}/' if metadata.get('namespace') else ''}{name}")
    if not workloads:
        kinds = ", ".join(sorted(_PODS))
        raise ValueError(f"objects: none of them brings pods; give one of {kinds}")
    if (pods := sum(found.replicas for found in workloads)) > MOST_PODS:
        raise ValueError(f"objects: {pods} pods; ask about {MOST_PODS} at a time")
    return Wanted(tuple(workloads), groups, tuple(queues), tuple(ignored))


def _flat(objects: Sequence[Any], field: str, *, nested: bool = False) -> list[tuple[str, JSON]]:
    """The objects with the fields that they are at; those of a List, which holds no other List, one by one."""
    found: list[tuple[str, JSON]] = []
    for i, obj in enumerate(objects):
        where = f"{field}[{i}]"
        if not isinstance(obj, dict):
            raise ValueError(f"{where}: a Kubernetes object is needed, not {obj!r:.40}")
        if nested and str(obj.get("kind", "")) == "List":
            items = obj.get("items")
            if not isinstance(items, list):
                raise ValueError(f"{where}.items: a list of objects is needed")
            found += _flat(items, f"{where}.items")
        else:
            found.append((where, obj))
    return found


def _workload(obj: JSON, identity: tuple[str, str, str], field: str) -> Workload:
    kind = identity[0]
    if kind == "Pod":
        pod = {"metadata": _part(obj, "metadata", field), "spec": _part(obj, "spec", field)}
        return Workload(*identity, field, _unbound(pod), 1)
    spec = _part(obj, "spec", field)
    template, where = _part(spec, "template", f"{field}.spec"), f"{field}.spec.template"
    pod = {"metadata": template.get("metadata") or {}, "spec": _part(template, "spec", where)}
    if not isinstance(pod["metadata"], dict):
        raise ValueError(f"{where}.metadata: an object is needed")
    return Workload(*identity, where, _unbound(pod), _replicas(kind, spec, f"{field}.spec"))


def _unbound(pod: JSON) -> JSON:
    """Also a pod that runs is asked about as one that has no node yet."""
    return {**pod, "spec": {key: found for key, found in pod["spec"].items() if key != "nodeName"}}


def _replicas(kind: str, spec: JSON, field: str) -> int:
    if kind in _REPLICATED:
        return _count(spec, "replicas", 1, field)
    parallel = _count(spec, "parallelism", 1, field)
    return min(parallel, _count(spec, "completions", parallel, field))


def _count(spec: JSON, name: str, default: int, field: str) -> int:
    found = spec.get(name)
    if found is None:
        return default
    if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found < 2**31:
        raise ValueError(f"{field}.{name}: a whole number from 0 is needed, not {found!r:.40}")
    return found


def _part(obj: JSON, name: str, field: str) -> JSON:
    found = obj.get(name)
    if not isinstance(found, dict):
        raise ValueError(f"{field}.{name}: an object is needed")
    return found


def _text(obj: JSON, name: str, field: str) -> str:
    found = obj.get(name)
    if not isinstance(found, str) or not found:
        raise ValueError(f"{field}.{name}: a name is needed, not {found!r:.40}")
    return found
