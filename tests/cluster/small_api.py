"""A tiny API server in memory for tests of one component: pods, nodes, events, bindings; answers that can fail."""

import copy
import re
from collections.abc import Callable
from typing import Any

from gpuyard.writes import JSON, Reply, Write
from gpuyard_cluster.apiserver.changes.patches import apply_patch
from gpuyard_cluster.clock import Steps
from gpuyard_kube.api import Observer

_PATH = re.compile(r"/api/v1/(?:namespaces/([^/]+)/)?(pods|nodes|events)(?:/([^/]+))?(?:/(binding|status))?")
_KINDS = {"pods": "Pod", "nodes": "Node"}


class SmallApi:
    """Objects by (resource, namespace, name). Every change reaches every observer as an item of its own."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self.objects: dict[tuple[str, str, str], JSON] = {}
        self.observers: list[Observer] = []
        self.writes: list[Write] = []
        self.events: list[JSON] = []
        self.refuse: Callable[[Write], int | None] = lambda write: None
        """Which status a write is refused with; None: it is done."""
        self._version = 100

    def list(self, resource: str) -> list[JSON]:
        return [copy.deepcopy(obj) for key, obj in self.objects.items() if key[0] == resource]

    def pod(self, name: str) -> JSON:
        return self.objects["pods", "default", name]

    def node(self, name: str) -> JSON:
        return self.objects["nodes", "", name]

    def attach(self, observer: Observer) -> None:
        """List everything to an observer, then tell it all changes."""
        for resource in ("nodes", "pods", "poddisruptionbudgets"):
            observer.replace(resource, self.list(resource))
        self.observers.append(observer)

    def detach(self, observer: Observer) -> None:
        self.observers.remove(observer)

    def put(self, resource: str, obj: JSON) -> JSON:
        """Create or replace an object, as a user would."""
        metadata = obj["metadata"]
        self._version += 1
        metadata.setdefault("uid", f"uid-{self._version}")
        metadata["resourceVersion"] = str(self._version)
        key = (resource, metadata.get("namespace", ""), metadata["name"])
        event = "MODIFIED" if key in self.objects else "ADDED"
        self.objects[key] = copy.deepcopy(obj)
        self._tell(resource, event, obj)
        return obj

    def remove(self, resource: str, name: str, namespace: str = "") -> None:
        """Delete an object without grace."""
        obj = self.objects.pop((resource, namespace, name))
        self._tell(resource, "DELETED", obj)

    async def send(self, write: Write) -> Reply:
        self.writes.append(write)
        refused = self.refuse(write)
        if refused is not None:
            return Reply(refused, {"message": f"refused with {refused}"})
        match = _PATH.fullmatch(write.path)
        assert match, write.path
        namespace, resource, name, sub = match.groups()
        assert isinstance(write.body, dict | None)
        if resource == "events" and write.method == "POST":
            self.events.append(write.body or {})
            return Reply(201, write.body or {})
        if write.method == "POST" and sub is None:
            return self._create(resource, namespace or "", write.body or {})
        return self._change(write, (resource, namespace or "", name), sub)

    async def read(self, path: str, **query: str) -> Reply:
        raise NotImplementedError(path)

    def _create(self, resource: str, namespace: str, body: JSON) -> Reply:
        if (resource, namespace, body["metadata"]["name"]) in self.objects:
            return Reply(409, {"message": "already exists"})
        return Reply(201, self.put(resource, copy.deepcopy(body)))

    def _change(self, write: Write, key: tuple[str, str, str], sub: str | None) -> Reply:
        current = self.objects.get(key)
        if current is None:
            return Reply(404, {"message": f"{key[0]} {key[2]!r} not found"})
        body: Any = write.body or {}
        expected = (body.get("preconditions") or body.get("metadata") or {}).get("uid")
        if expected not in (None, current["metadata"]["uid"]):
            return Reply(409, {"message": "Precondition failed: UID in precondition"})
        if write.method == "DELETE":
            self.remove(key[0], key[2], key[1])
            return Reply(200, current)
        if sub == "binding":
            return self._bind(copy.deepcopy(current), body)
        assert write.patch is not None
        new = apply_patch(write.patch.value, current, body, _KINDS[key[0]])
        return Reply(200, self.put(key[0], new) if new != current else new)

    def _bind(self, pod: JSON, body: JSON) -> Reply:
        if pod["spec"].get("nodeName"):
            return Reply(409, {"message": f"pod {pod['metadata']['name']} is already assigned"})
        pod["spec"]["nodeName"] = body["target"]["name"]
        pod["metadata"].setdefault("annotations", {}).update(body["metadata"].get("annotations", {}))
        kept = [found for found in pod["status"].get("conditions", ()) if found["type"] != "PodScheduled"]
        pod["status"]["conditions"] = [*kept, {"type": "PodScheduled", "status": "True"}]
        self.put("pods", pod)
        return Reply(201, {"status": "Success"})

    def _tell(self, resource: str, event: str, obj: JSON) -> None:
        for observer in list(self.observers):
            told = copy.deepcopy(obj)

            def hand_on(observer: Observer = observer, told: JSON = told) -> None:
                if observer in self.observers:
                    observer.observe(resource, event, told)

            self.steps.call_at(self.steps.now(), f"{event} {resource}", hand_on)


def node(
    name: str, *, cpu: str = "8", pods: str = "110", labels: dict[str, str] | None = None, **more: Any
) -> JSON:
    """A ready node; `more` are extended resources, dots and slashes written as __ and _: nvidia_com__gpu."""
    extended = {key.replace("__", "/").replace("_", "."): str(value) for key, value in more.items()}
    amounts = {"cpu": cpu, "memory": "32Gi", "pods": pods, **extended}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
        "spec": {},
        "status": {
            "capacity": dict(amounts),
            "allocatable": amounts,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def pod(name: str, limits: dict[str, str] | None = None, **spec: Any) -> JSON:
    """A pending pod with one container `main` that is not started again when it ends."""
    annotations = spec.pop("annotations", {})
    container = {"name": "main", "image": "busybox:1.36", "resources": {"limits": limits or {}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "annotations": annotations},
        "spec": {
            "schedulerName": "default-scheduler",
            "restartPolicy": "Never",
            "containers": [container],
            **spec,
        },
        "status": {"phase": "Pending"},
    }
