"""An API server on a stepped clock with controllers of workloads, and somebody who plays scheduler and kubelets."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from gpuyard.writes import JSON, PatchType, Reply, Write
from gpuyard_cluster.apiserver.direct import DirectApi, feed
from gpuyard_cluster.apiserver.server import APIServer
from gpuyard_cluster.clock import Steps
from gpuyard_cluster.controllers.decisions import Controller
from gpuyard_cluster.controllers.garbage_collector import GarbageCollector
from gpuyard_cluster.controllers.service import ControllerManager
from gpuyard_kube.timestamps import rfc3339
from tests.cluster.controllers.faulty_api import FaultyApi
from tests.stepping import settle

BASES = {
    "deployments": "/apis/apps/v1",
    "replicasets": "/apis/apps/v1",
    "statefulsets": "/apis/apps/v1",
    "daemonsets": "/apis/apps/v1",
    "jobs": "/apis/batch/v1",
    "poddisruptionbudgets": "/apis/policy/v1",
    "pods": "/api/v1",
    "events": "/api/v1",
}
COLLECTED = {plural: f"{base}/{plural}" for plural, base in BASES.items() if plural != "events"}


class Workshop:
    def __init__(self, *controllers: Controller) -> None:
        self.steps = Steps()
        self.server = APIServer(self.steps.now)
        self.kubectl = DirectApi(self.server, "kubectl")
        self.api = FaultyApi(self.server, self.restart)
        self._controllers = controllers
        self._stops: list[Callable[[], None]] = []
        self.restart()

    def restart(self) -> None:
        """Controllers that know nothing take the place of the present ones."""
        for stop in self._stops:
            stop()
        manager = ControllerManager(self.api, self.steps, self._controllers)
        collector = GarbageCollector(DirectApi(self.server, "collector"), self.steps, COLLECTED)
        feeds = [
            feed(self.server, manager, manager.resources, self._deliver),
            feed(self.server, collector, COLLECTED, self._deliver),
        ]
        manager.start()
        collector.start()
        self._stops = [part.stop for part in (manager, collector, *feeds)]

    def settle(self, seconds: float = 0.0) -> None:
        """Run everything that happens within the next `seconds`."""
        settle(self.steps, self.steps.now() + seconds)

    def create(self, plural: str, name: str, spec: JSON, **metadata: Any) -> JSON:
        body = {"metadata": {"name": name, **metadata}, "spec": spec}
        return self.send(Write("POST", path(plural), body))

    def change(self, plural: str, name: str, spec: JSON) -> JSON:
        return self.send(Write("PATCH", path(plural, name), {"spec": spec}, PatchType.STRATEGIC))

    def delete(self, plural: str, name: str, **options: Any) -> JSON:
        return self.send(Write("DELETE", path(plural, name), options))

    def get(self, plural: str, name: str) -> JSON:
        return self.read(path(plural, name)).body

    def all(self, plural: str) -> list[JSON]:
        found: list[JSON] = self.read(path(plural)).body["items"]
        return found

    def send(self, write: Write) -> JSON:
        reply: Reply = self.steps.complete(self.kubectl.send(write))
        assert reply.ok, reply.body
        return reply.body

    def read(self, where: str) -> Reply:
        reply: Reply = self.steps.complete(self.kubectl.read(where))
        return reply

    def living(self) -> list[JSON]:
        """The pods that are not being deleted and have not ended, by name."""
        return [
            pod
            for pod in self.all("pods")
            if pod["status"]["phase"] in ("Pending", "Running") and "deletionTimestamp" not in pod["metadata"]
        ]

    def told(self) -> list[str]:
        """The events: `Kind/name reason: text`."""
        return [
            f"{event['involvedObject']['kind']}/{event['involvedObject']['name']} "
            f"{event['reason']}: {event['message']}"
            for event in self.all("events")
        ]

    def run(self, pods: Iterable[JSON] | None = None, *, ready: bool = True) -> None:
        """Let pods (all that are waiting) run on a node."""
        for pod in list(self.living() if pods is None else pods):
            name, status = pod["metadata"]["name"], pod["status"]
            if "nodeName" not in pod["spec"]:
                body = {"metadata": {"name": name}, "target": {"name": "node-1"}}
                self.send(Write("POST", path("pods", name) + "/binding", body))
            if status["phase"] == "Pending" or ready:
                condition = self._condition(ready)
                self._set_status(name, {"phase": "Running", "conditions": [condition]})
        self.settle()

    def end(self, pods: Iterable[JSON], code: int = 0) -> None:
        """Let the containers of pods end."""
        for pod in list(pods):
            terminated = {"exitCode": code, "finishedAt": rfc3339(self.steps.now())}
            status = {"name": "main", "image": "i", "imageID": "", "ready": False, "restartCount": 0}
            ended = {**status, "state": {"terminated": terminated}}
            phase = "Failed" if code else "Succeeded"
            body = {"phase": phase, "conditions": [self._condition(False)], "containerStatuses": [ended]}
            self._set_status(pod["metadata"]["name"], body)
        self.settle()

    def bury(self) -> None:
        """Remove the pods that are being deleted, as their kubelets do when the containers have ended."""
        for pod in self.all("pods"):
            if pod["metadata"].get("deletionGracePeriodSeconds"):
                self.delete("pods", pod["metadata"]["name"], gracePeriodSeconds=0)
        self.settle()

    def _condition(self, ready: bool) -> JSON:
        return {"type": "Ready", "status": str(ready), "lastTransitionTime": rfc3339(self.steps.now())}

    def _set_status(self, name: str, status: JSON) -> None:
        where = path("pods", name) + "/status"
        self.send(Write("PATCH", where, {"status": status}, PatchType.STRATEGIC))

    def _deliver(self, name: str, call: Any) -> None:
        self.steps.call_at(self.steps.now(), name, call)


def path(plural: str, name: str = "") -> str:
    return f"{BASES[plural]}/namespaces/default/{plural}" + (f"/{name}" if name else "")


def template(app: str = "a", **spec: Any) -> JSON:
    """A pod template with the label `app`."""
    containers = [{"name": "main", "image": "busybox:1.36"}]
    return {"metadata": {"labels": {"app": app}}, "spec": {"containers": containers, **spec}}


def workload(replicas: int | None = None, app: str = "a", **spec: Any) -> JSON:
    """The spec of what makes pods of a template."""
    counted = {} if replicas is None else {"replicas": replicas}
    return {**counted, "selector": {"matchLabels": {"app": app}}, "template": template(app), **spec}


def names(pods: Sequence[JSON]) -> list[str]:
    return [pod["metadata"]["name"] for pod in pods]
