"""The cluster of a file, ready to become a yard; and what is written into the yard once its nodes are there."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from gpuyard.writes import JSON, Write
from gpuyard.yard import YardNode
from gpuyard_cli.imported import groups, nodes, objects, pods
from gpuyard_cli.imported.nodes import ImportedNode
from gpuyard_cli.imported.notes import Notes
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_device_plugin.config import config
from gpuyard_device_plugin.devices import node_inventory
from gpuyard_kube.api import Api

_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True)
class Imported:
    """`nodes` make the yard; `writes` are to be sent in this order when they are there; `notes` are for the user."""

    nodes: tuple[YardNode, ...]
    writes: tuple[Write, ...]
    notes: Notes


def read(path: Path) -> Imported:
    """The cluster in a file. InvalidInputError names the first object that cannot be read."""
    notes = Notes()
    found = objects.read(path, notes)
    if not found["Node"]:
        raise InvalidInputError(path, "", "there is no node in it", objects.REMEDY)
    made = [_read(path, obj, lambda node: _node(node, notes)) for obj in found["Node"]]
    names = {each.node.name for each in made}
    known = {_key(group) for group in found["PodGroup"]}
    kept = [_read(path, obj, lambda pod: pods.imported(pod, names, known, notes)) for obj in found["Pod"]]
    living = [pod for pod in kept if pod is not None]
    marks = [each.marks for each in made if each.marks is not None]
    gangs = groups.creations(found["Queue"], found["PodGroup"], notes)
    spaces = _namespaces([*living, *found["PodGroup"]])
    return Imported(tuple(each.node for each in made), (*marks, *spaces, *gangs, *_creations(living)), notes)


def _read(path: Path, obj: JSON, read: Callable[[JSON], _Made]) -> _Made:
    where = f"{obj['kind']} {obj['metadata']['name']}"
    try:
        return read(obj)
    except config.InvalidConfigError as fault:
        raise InvalidInputError(path, f"{where}: nvidia.com labels", fault.problem, fault.remedy) from fault
    except ValueError as error:
        raise InvalidInputError(path, where, str(error), objects.REMEDY) from error
    except (AttributeError, KeyError, TypeError) as error:
        raise InvalidInputError(path, where, f"it cannot be read: {error!r}", objects.REMEDY) from error


def _node(obj: JSON, notes: Notes) -> ImportedNode:
    found = nodes.imported(obj, notes)
    node_inventory.build(found.node.gpus, config.parse(found.node.plugin_config))
    return found


async def restore(api: Api, imported: Imported) -> None:
    """Write everything; what the API server refuses is noted."""
    for write in imported.writes:
        reply = await api.send(write)
        if not reply.ok:
            imported.notes.add(f"refused: {reply.reason}", _subject(write))


def _key(obj: JSON) -> tuple[str, str]:
    return obj["metadata"].get("namespace", "default"), obj["metadata"]["name"]


def _namespaces(found: Iterable[JSON]) -> Iterator[Write]:
    for name in dict.fromkeys(_key(obj)[0] for obj in found):
        if name not in ("default", "kube-system", "kube-public", "kube-node-lease"):
            yield Write("POST", "/api/v1/namespaces", {"metadata": {"name": name}})


def _creations(living: list[JSON]) -> Iterator[Write]:
    """The priority classes of pods, then the pods."""
    classes = {found["metadata"]["name"]: found for pod in living if (found := pods.priority_class(pod))}
    for found in classes.values():
        yield Write("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", found)
    for pod in living:
        yield Write("POST", f"/api/v1/namespaces/{_key(pod)[0]}/pods", pod)


def _subject(write: Write) -> str:
    body = write.body if isinstance(write.body, dict) else {}
    metadata = body.get("metadata") or {"name": write.path.rpartition("/")[2]}
    return "/".join(str(metadata[key]) for key in ("namespace", "name") if key in metadata)
