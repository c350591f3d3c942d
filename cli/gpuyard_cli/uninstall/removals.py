"""What is to be taken from a cluster that GPUYard leaves: pure functions of its objects.

Law: only what GPUYard wrote goes, each with a sentence that says what it means. Labels that a person set on nodes
stay, and PodGroups are never touched: they are the users' own.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gpuyard import vocabulary
from gpuyard.groups import reservations
from gpuyard.pods import memberships
from gpuyard.writes import JSON, PatchType, Write
from gpuyard_device_plugin.publishing import cleanup

WORKLOADS: Final = ("Deployment", "DaemonSet")
GATE_KINDS: Final = ("MutatingAdmissionPolicyBinding", "MutatingAdmissionPolicy")
_POD_NOTES: Final = (vocabulary.ALLOCATION, vocabulary.WOKEN)


@dataclass(frozen=True, slots=True)
class Removal:
    """One write of the uninstallation, and what to say of it."""

    text: str
    write: Write


def of_pods(pods: Iterable[JSON]) -> Iterator[Removal]:
    """Gates first: a pod that is held would be held for ever."""
    known = list(pods)
    for pod in known:
        gates = [gate.get("name") for gate in (pod.get("spec") or {}).get("schedulingGates") or ()]
        if vocabulary.GANG_GATE in gates:
            yield Removal(_ungated(pod), _without_gate(pod))
    for pod in known:
        notes = pod["metadata"].get("annotations") or {}
        if found := [key for key in _POD_NOTES if key in notes]:
            body = {"metadata": {"uid": pod["metadata"]["uid"], "annotations": dict.fromkeys(found)}}
            text = f"pod {_name(pod)}: without {', '.join(found)}"
            yield Removal(text, Write("PATCH", _path(pod), body, PatchType.MERGE))


def of_nodes(nodes: Iterable[JSON]) -> Iterator[Removal]:
    """What device plugins wrote, as their own clean-up would remove it."""
    for node in nodes:
        if body := cleanup.patch(node):
            name = node["metadata"]["name"]
            keys = [key for part in ("annotations", "labels") for key in body["metadata"].get(part, ())]
            text = f"node {name}: without {', '.join(keys)}"
            yield Removal(text, Write("PATCH", f"/api/v1/nodes/{name}", body, PatchType.MERGE))


def of_reservations(found: Iterable[JSON]) -> Iterator[Removal]:
    for obj in found:
        path = reservations.path(obj["metadata"]["namespace"], obj["metadata"]["name"])
        yield Removal(f"reservation {_name(obj)}: deleted", Write("DELETE", path))


def of_objects(objects: Iterable[JSON], paths: Mapping[str, str]) -> Iterator[Removal]:
    """Objects of the manifests; `paths`: kind -> path of the collection, with {namespace} where there is one.

    Kinds that the cluster does not serve have no path and no objects.
    """
    for obj in objects:
        if (collection := paths.get(obj["kind"])) is not None:
            metadata = obj["metadata"]
            path = f"{collection.format(namespace=metadata.get('namespace', 'default'))}/{metadata['name']}"
            yield Removal(f"{obj['kind']} {_name(obj)}: deleted", Write("DELETE", path))


def in_phases(objects: Iterable[JSON]) -> tuple[list[JSON], list[JSON], list[JSON]]:
    """The manifests' objects in the order in which they go: what acts; all else, namespaces last; the definitions.

    The gate goes before the operator that opens it, or new pods would be held by nobody's leave.
    """
    known = list(objects)
    first = [obj for kind in (*GATE_KINDS, *WORKLOADS) for obj in known if obj["kind"] == kind]
    definitions = [obj for obj in known if obj["kind"] == "CustomResourceDefinition"]
    rest = [obj for obj in known if obj not in first and obj not in definitions]
    return first, sorted(rest, key=lambda obj: bool(obj["kind"] == "Namespace")), definitions


def _ungated(pod: JSON) -> str:
    group = memberships.claimed(pod)
    alone = f", and starts without waiting for the rest of PodGroup {group}" if group else ""
    return f"pod {_name(pod)}: no longer held{alone}"


def _without_gate(pod: JSON) -> Write:
    """A strategic merge names the gate; a merge patch would clear the whole list."""
    gates = [{"$patch": "delete", "name": vocabulary.GANG_GATE}]
    body = {"metadata": {"uid": pod["metadata"]["uid"]}, "spec": {"schedulingGates": gates}}
    return Write("PATCH", _path(pod), body, PatchType.STRATEGIC)


def _path(pod: JSON) -> str:
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"


def _name(obj: JSON) -> str:
    metadata = obj["metadata"]
    return (
        f"{metadata['namespace']}/{metadata['name']}" if metadata.get("namespace") else str(metadata["name"])
    )
