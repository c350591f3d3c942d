"""PodGroups and Queues as objects to create: what people said, without what the operator will say anew."""

from collections.abc import Iterable, Iterator

from gpuyard import vocabulary
from gpuyard.groups import queues
from gpuyard.writes import JSON, Write
from gpuyard_cli.imported.notes import Notes

_KEPT = ("name", "namespace", "labels", "annotations")
_AGE = "groups of queues: here all are of one age, and names decide who is ahead in a line"


def creations(found_queues: Iterable[JSON], groups: Iterable[JSON], notes: Notes) -> Iterator[Write]:
    """Queues first, then groups, the oldest first. What is being deleted is left out."""
    for obj in filter(_stays, found_queues):
        yield Write("POST", queues.PATH, _made(obj, f"{vocabulary.GROUP}/{vocabulary.VERSION}"))
    for obj in sorted(filter(_stays, groups), key=_age):
        namespace = obj["metadata"].get("namespace", "default")
        if queues.queue_of(obj, ()):
            notes.add(_AGE, f"{namespace}/{obj['metadata']['name']}")
        path = f"/apis/{vocabulary.POD_GROUP_API}/namespaces/{namespace}/podgroups"
        yield Write("POST", path, _made(obj, vocabulary.POD_GROUP_API))


def _stays(obj: JSON) -> bool:
    return not obj["metadata"].get("deletionTimestamp")


def _age(obj: JSON) -> str:
    return str(obj["metadata"].get("creationTimestamp"))


def _made(obj: JSON, version: str) -> JSON:
    metadata = {key: obj["metadata"][key] for key in _KEPT if obj["metadata"].get(key)}
    return {"apiVersion": version, "kind": obj["kind"], "metadata": metadata, "spec": obj["spec"]}
