"""The objects of a file that kubectl wrote, each one checked before anybody reads it.

Law: what is not as Kubernetes has it is refused by place, kind, name and field; kinds of which nothing is made are
left out by name.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from gpuyard import shapes, vocabulary
from gpuyard.shapes import Shape
from gpuyard.writes import JSON
from gpuyard_cli.imported.notes import Notes
from gpuyard_cli.inputs import InvalidInputError, documents

REMEDY: Final = "give what `kubectl get nodes,pods -A -o yaml` prints"
_META: Final = {
    "metadata": Shape.OBJECT,
    "metadata.labels": Shape.TEXTS,
    "metadata.annotations": Shape.TEXTS,
    "spec": Shape.OBJECT,
    "status": Shape.OBJECT,
}
_SHAPES: Final = {
    ("v1", "Node"): {
        **_META,
        "spec.taints": Shape.LIST,
        "status.allocatable": Shape.OBJECT,
        "status.capacity": Shape.OBJECT,
    },
    ("v1", "Pod"): {**_META, "spec.containers": Shape.LIST, "metadata.ownerReferences": Shape.LIST},
    (vocabulary.POD_GROUP_API, "PodGroup"): _META,
    (f"{vocabulary.GROUP}/{vocabulary.VERSION}", "Queue"): _META,
}


def read(path: Path, notes: Notes) -> dict[str, list[JSON]]:
    """The objects by kind. InvalidInputError names the first that cannot be used."""
    found: dict[str, list[JSON]] = {kind: [] for _, kind in _SHAPES}
    seen = set[tuple[str, str, str]]()
    for where, obj in _items(path):
        kind = _kind(obj)
        if problem := _problem(obj, kind):
            raise InvalidInputError(path, where, problem, REMEDY)
        metadata = obj["metadata"]
        name = (str(obj["kind"]), str(metadata.get("namespace", "")), str(metadata["name"]))
        if kind is None:
            notes.add(
                "objects of which nothing is made are left out",
                f"{name[0]} {'/'.join(filter(None, name[1:]))}",
            )
        elif name in seen:
            raise InvalidInputError(
                path, where, f"{' '.join(filter(None, name))} is there twice", "remove one"
            )
        else:
            seen.add(name)
            found[kind[1]].append(obj)
    return found


def _items(path: Path) -> Iterator[tuple[str, Any]]:
    """The objects with their places, those of Lists one by one."""
    for number, document in enumerate(documents(path)):
        where = f"document {number}"
        if not isinstance(document, dict) or document.get("kind") != "List":
            yield where, document
            continue
        if not isinstance(document.get("items"), list):
            raise InvalidInputError(path, f"{where}: items", "a list of objects is needed", REMEDY)
        yield from ((f"{where}: items[{place}]", item) for place, item in enumerate(document["items"]))


def _kind(obj: Any) -> tuple[str, str] | None:
    """Which of those of `_SHAPES` it is; an apiVersion may be missing."""
    said = (obj.get("apiVersion"), obj.get("kind")) if isinstance(obj, dict) else ()
    return next((known for known in _SHAPES if said in (known, (None, known[1]))), None)


def _problem(obj: Any, kind: tuple[str, str] | None) -> str:
    if not isinstance(obj, dict) or not isinstance(obj.get("kind"), str):
        return "neither a node nor a pod, nor any other object"
    metadata = obj.get("metadata")
    given = metadata if isinstance(metadata, dict) else {}
    for field, name in (("name", given.get("name")), ("namespace", given.get("namespace", "default"))):
        if not isinstance(name, str) or (kind and not shapes.NAME.fullmatch(name)):
            return f"{obj['kind']:.80}: metadata.{field}: {name!r:.80} is no name of an object"
    fault = shapes.fault(obj, _SHAPES[kind]) if kind else ""
    if kind and not fault and kind[1] != "Node" and obj.get("spec") is None:
        fault = f".spec: {Shape.OBJECT}"
    return f"{obj['kind']} {given['name']}: {fault.removeprefix('.')}" if fault else ""
