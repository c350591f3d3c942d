"""An API server in a dict: just what the operator and these tests write, with versions, uids and events."""

import copy
from collections.abc import Callable
from typing import Any

from gpuyard import vocabulary
from gpuyard.writes import JSON, Reply, Write

PLURALS = {"Pod": "pods", "Node": "nodes", "PodGroup": "podgroups", "Reservation": "reservations"}


class FakeApi:
    """Objects by path. `events` are those not yet delivered to anyone; `fails` makes a write fail with 500."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._version = 100
        self.objects: dict[str, JSON] = {}
        self.events: list[tuple[str, str, JSON]] = []
        self.writes: list[Write] = []
        self.fails: Callable[[Write], bool] = lambda write: False

    async def send(self, write: Write) -> Reply:
        self.writes.append(write)
        return Reply(500, {"message": "injected"}) if self.fails(write) else self.do(write)

    async def read(self, path: str, **query: str) -> Reply:
        label = query.get("labelSelector", "").partition("=")[2]
        found = [obj for obj in self.list(path.rsplit("/", 1)[1]) if not label or group_of(obj) == label]
        if path.startswith("/api/v1/namespaces/"):
            found = [obj for obj in found if obj["metadata"]["namespace"] == path.split("/")[4]]
        return Reply(200, {"metadata": {"resourceVersion": str(self._version)}, "items": found})

    def list(self, resource: str) -> list[JSON]:
        """All objects of a resource, as copies."""
        found = [obj for obj in self.objects.values() if PLURALS[obj["kind"]] == resource]
        return copy.deepcopy(found)

    def do(self, write: Write) -> Reply:
        """Any write, without failure injection."""
        name = write.path.rsplit("/", 1)[1]
        if write.method == "POST" and name == "eviction":
            return self._delete(write.path.removesuffix("/eviction"), write.body["deleteOptions"])  # type: ignore[index,call-overload]
        if write.method == "POST":
            return self._create(write)
        path = write.path.removesuffix("/status")
        if path not in self.objects:
            return Reply(404, {"kind": "Status", "message": f"{path} not found"})
        if write.method == "DELETE":
            return self._delete(path, write.body)
        return self._patch(path, write.body)

    def change(self, path: str, edit: Callable[[JSON], Any]) -> None:
        """Edit an object in place, as some other client."""
        obj = copy.deepcopy(self.objects[path])
        edit(obj)
        self._store(path, obj, "MODIFIED")

    def remove(self, path: str) -> None:
        """Delete an object, as some other client."""
        obj = self.objects.pop(path)
        self._version += 1
        obj["metadata"]["resourceVersion"] = str(self._version)
        self.events.append((PLURALS[obj["kind"]], "DELETED", copy.deepcopy(obj)))

    def _create(self, write: Write) -> Reply:
        obj = copy.deepcopy(write.body)
        assert isinstance(obj, dict)
        path = f"{write.path}/{obj['metadata']['name']}"
        if path in self.objects:
            return Reply(409, {"kind": "Status", "message": f"{path} already exists"})
        obj["metadata"]["uid"] = f"uid-{self._version + 1}"
        return self._store(path, obj, "ADDED")

    def _delete(self, path: str, options: Any) -> Reply:
        if path not in self.objects:
            return Reply(404, {"kind": "Status", "message": f"{path} not found"})
        wanted = (options or {}).get("preconditions", {}).get("uid")
        if wanted not in (None, self.objects[path]["metadata"]["uid"]):
            return Reply(409, {"kind": "Status", "message": "uid"})
        self.remove(path)
        return Reply(200, {"kind": "Status", "status": "Success"})

    def _patch(self, path: str, body: Any) -> Reply:
        old = self.objects[path]
        obj = copy.deepcopy(old)
        wanted = body.get("metadata", {}).get("uid", obj["metadata"]["uid"])
        if wanted != obj["metadata"]["uid"]:
            return Reply(422, {"kind": "Status", "message": "metadata.uid: field is immutable"})
        for gate in body.get("spec", {}).get("schedulingGates", ()):
            gates = obj["spec"].get("schedulingGates", [])
            obj["spec"]["schedulingGates"] = [found for found in gates if found["name"] != gate["name"]]
        obj.setdefault("status", {}).update(copy.deepcopy(body.get("status", {})))
        return Reply(200, copy.deepcopy(old)) if obj == old else self._store(path, obj, "MODIFIED")

    def _store(self, path: str, obj: JSON, event: str) -> Reply:
        self._version += 1
        obj["metadata"]["resourceVersion"] = str(self._version)
        self.objects[path] = obj
        self.events.append((PLURALS[obj["kind"]], event, copy.deepcopy(obj)))
        return Reply(201, copy.deepcopy(obj))


def group_of(obj: JSON) -> str:
    labels: JSON = obj["metadata"].get("labels", {})
    return str(labels.get(vocabulary.POD_GROUP, ""))
