"""Node objects that somebody else made up, as nodes to judge: a stranger's JSON, checked field by field.

Stands for the NodeInfo templates of the cluster autoscaler.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gpuyard.placing.cluster import Node
from gpuyard_extender import nodes
from gpuyard_extender.claims import Claim

_OBJECTS: Final = (
    ("metadata",),
    ("metadata", "labels"),
    ("metadata", "annotations"),
    ("spec",),
    ("status",),
    ("status", "allocatable"),
)
_LISTS: Final = (("spec", "taints"), ("status", "conditions"))


def read(objects: Sequence[Any], field: str, claims: Mapping[str, Mapping[str, Claim]]) -> dict[str, Node]:
    """The nodes by name, with `claims`, by node and UID, on them; ValueError names the field that cannot be used."""
    found: dict[str, Node] = {}
    for i, obj in enumerate(objects):
        if fault := _fault(obj):
            raise ValueError(f"{field}[{i}]{fault}")
        facts = nodes.read(obj)
        if facts is None or facts.unreadable:
            what = "a Node object with a name" if facts is None else "an inventory that can be read"
            raise ValueError(f"{field}[{i}]: {what} is needed")
        if facts.name in found:
            raise ValueError(f"{field}[{i}].metadata.name: {facts.name!r:.80} is there twice; rename one")
        found[facts.name] = nodes.build(facts, claims.get(facts.name, {}))
    return found


def _fault(obj: Any) -> str:
    """The first field that is not what it has to be; empty when all are."""
    for path in _OBJECTS:
        if not isinstance(_at(obj, path), dict):
            return f"{_written(path)}: an object is needed"
    for path in _LISTS:
        part = _at(obj, path)
        if part and not (isinstance(part, list) and all(isinstance(one, dict) for one in part)):
            return f"{_written(path)}: a list of objects is needed"
    for path in (("metadata", "labels"), ("metadata", "annotations")):
        if not all(isinstance(text, str) for text in _at(obj, path).values()):
            return f"{_written(path)}: texts are needed"
    name = _at(obj, ("metadata", "name"))
    return "" if isinstance(name, str) and name else ".metadata.name: a name is needed"


def _at(obj: Any, path: Sequence[str]) -> Any:
    """What is there; an empty object where nothing is."""
    for name in path:
        obj = obj.get(name) if isinstance(obj, dict) else None
        obj = {} if obj is None else obj
    return obj


def _written(path: Sequence[str]) -> str:
    return "".join(f".{name}" for name in path)
