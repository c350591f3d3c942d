"""What a controller decides: writes in order, what people are told of them, and when to look again.

Stands for the return value of a `syncHandler` in kube-controller-manager, which writes as it goes; here nothing is
done until all is decided.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from gpuyard.writes import JSON, PatchType, Write
from gpuyard_cluster.controllers.objects import Objects


@dataclass(frozen=True, slots=True)
class Note:
    """An event for people about `about`; `{name}` and `{why}` in the text are filled in from the server's answer."""

    about: JSON
    reason: str
    text: str
    warning: bool = False


@dataclass(frozen=True, slots=True)
class Act:
    """One write, and the notes to make when it is done or refused."""

    write: Write
    done: Note | None = None
    refused: Note | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do about one object; `at` is when to look at it again even if nothing happens (None: not)."""

    acts: tuple[Act, ...] = ()
    notes: tuple[Note, ...] = ()
    at: float | None = None
    size: int = 0
    """How many objects were looked at, where these may be many."""


class Controller(Protocol):
    """One kind of object and the rules for it. Pure: it looks at `Objects` and holds nothing of its own."""

    @property
    def name(self) -> str:
        """The component that events come from, such as `replicaset-controller`."""

    @property
    def resources(self) -> Mapping[str, str]:
        """What it needs to know: plural -> path of the collection."""

    def keys(self, resource: str, obj: JSON, objects: Objects) -> Iterable[str]:
        """The keys of what a change of `obj` concerns."""

    def reconcile(self, key: str, objects: Objects, now: float) -> Decision:
        """What is to be done about `key` now. Doing it and asking again leads to an empty decision."""


NOTHING = Decision()


def earliest(*moments: float | None) -> float | None:
    """The first of some moments; None when there is none."""
    return min((moment for moment in moments if moment is not None), default=None)


def path_of(collection: str, obj: JSON, subresource: str = "") -> str:
    """The path of an object whose collection is `/apis/apps/v1/deployments`."""
    base, _, plural = collection.rpartition("/")
    namespace = obj["metadata"].get("namespace")
    place = f"/namespaces/{namespace}" if namespace else ""
    return f"{base}{place}/{plural}/{obj['metadata']['name']}" + (f"/{subresource}" if subresource else "")


def status_write(collection: str, obj: JSON, status: JSON) -> tuple[Act, ...]:
    """Replace the status, if it differs. A late one fails, because it names the version that was looked at."""
    if status == obj.get("status"):
        return ()
    return (Act(Write("PUT", path_of(collection, obj, "status"), {**obj, "status": status})),)


def patch(collection: str, obj: JSON, change: JSON, subresource: str = "") -> Write:
    """A merge patch of the object that was looked at, and of no other of its name."""
    metadata = {**change.get("metadata", {}), "uid": obj["metadata"]["uid"]}
    path = path_of(collection, obj, subresource)
    return Write("PATCH", path, {**change, "metadata": metadata}, PatchType.MERGE)


def delete(collection: str, obj: JSON, **options: object) -> Write:
    """Delete the object that was looked at."""
    preconditions = {"uid": obj["metadata"]["uid"]}
    body: JSON = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": preconditions, **options}
    return Write("DELETE", path_of(collection, obj), body)
