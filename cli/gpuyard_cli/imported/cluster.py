"""Nodes and pods of a file, ready to become a yard; and what is written into the yard once its nodes are there."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from gpuyard.writes import JSON, Write
from gpuyard.yard import YardNode
from gpuyard_cli.imported import nodes, pods
from gpuyard_cli.imported.notes import Notes
from gpuyard_cli.inputs import InvalidInputError, documents
from gpuyard_device_plugin import config, node_inventory
from gpuyard_kube.api import Api

_REMEDY = "give what `kubectl get nodes,pods -A -o yaml` prints"


@dataclass(frozen=True, slots=True)
class Imported:
    """`nodes` make the yard; `writes` are to be sent in this order when they are there; `notes` are for the user."""

    nodes: tuple[YardNode, ...]
    writes: tuple[Write, ...]
    notes: Notes


def read(path: Path) -> Imported:
    """The cluster in a file. InvalidInputError names the first object that cannot be read."""
    objects = [obj for number, found in enumerate(_documents(path)) for obj in _items(path, number, found)]
    notes = Notes()
    try:
        found = [nodes.imported(obj, notes) for obj in objects if obj["kind"] == "Node"]
        for each in found:
            node_inventory.build(each.node.gpus, config.parse(each.node.plugin_config))
        names = {each.node.name for each in found}
        kept = [pods.imported(obj, names, notes) for obj in objects if obj["kind"] == "Pod"]
    except config.InvalidConfigError as fault:
        raise InvalidInputError(path, "nvidia.com labels", fault.problem, fault.remedy) from fault
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InvalidInputError(path, "", f"a node or pod cannot be read: {error!r}", _REMEDY) from error
    if not found:
        raise InvalidInputError(path, "", "there is no node in it", _REMEDY)
    living = [pod for pod in kept if pod is not None]
    marks = [each.marks for each in found if each.marks is not None]
    return Imported(tuple(each.node for each in found), (*marks, *_creations(living)), notes)


async def restore(api: Api, imported: Imported) -> None:
    """Write everything; what the API server refuses is noted."""
    for write in imported.writes:
        reply = await api.send(write)
        if not reply.ok:
            imported.notes.add(f"refused: {reply.reason}", _subject(write))


def _creations(living: list[JSON]) -> Iterator[Write]:
    """What pods need, then the pods."""
    spaces = dict.fromkeys(pod["metadata"].get("namespace", "default") for pod in living)
    for name in spaces:
        if name not in ("default", "kube-system", "kube-public", "kube-node-lease"):
            yield Write("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    classes = {found["metadata"]["name"]: found for pod in living if (found := pods.priority_class(pod))}
    for found in classes.values():
        yield Write("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", found)
    for pod in living:
        namespace = pod["metadata"].get("namespace", "default")
        yield Write("POST", f"/api/v1/namespaces/{namespace}/pods", pod)


def _subject(write: Write) -> str:
    body = write.body if isinstance(write.body, dict) else {}
    metadata = body.get("metadata") or {"name": write.path.rpartition("/")[2]}
    return "/".join(str(metadata[key]) for key in ("namespace", "name") if key in metadata)


def _documents(path: Path) -> list[Any]:
    """JSON is YAML, but is read a hundred times faster as what it is."""
    try:
        return [orjson.loads(path.read_bytes())]
    except (OSError, orjson.JSONDecodeError):
        return documents(path)


def _items(path: Path, number: int, found: Any) -> list[JSON]:
    kind = found.get("kind") if isinstance(found, dict) else None
    items = found.get("items") if kind == "List" else [found]
    for place, item in enumerate(items if isinstance(items, list) else [None]):
        whole = isinstance(item, dict) and isinstance(item.get("metadata"), dict)
        if not whole or item.get("kind") not in ("Node", "Pod") or not item["metadata"].get("name"):
            where = f"document {number}: items[{place}]"
            raise InvalidInputError(path, where, "neither a node nor a pod", _REMEDY)
    return items if isinstance(items, list) else []
