"""Kubernetes objects for the extender's tests, and an API server that knows pods only."""

import itertools
from typing import Any

from gpuyard import annotations, vocabulary
from gpuyard.groups import reservations
from gpuyard.groups.reservations import Reservation, Seat
from gpuyard.hardware.gpus import GPU, gpu_uuid
from gpuyard.hardware.inventory import Inventory, Sharing, SharingMode
from gpuyard.policies.candidates import Policy
from gpuyard.writes import JSON, Reply, Write
from gpuyard_cluster.clock import Steps
from gpuyard_extender.service import Extender
from gpuyard_extender.settings import Settings
from tests.stepping import settle

_versions = itertools.count(1)


def metadata(name: str, uid: str | None, namespace: str | None = None) -> JSON:
    found: JSON = {"name": name, "uid": uid or f"uid-{name}", "resourceVersion": str(next(_versions))}
    return {**found, "namespace": namespace} if namespace else found


def device(node: str, index: int) -> str:
    return gpu_uuid(node, index)


def gpu_node(
    name: str,
    gpus: int = 2,
    *,
    uid: str | None = None,
    cpu: str = "64",
    sick: tuple[int, ...] = (),
    shares: int = 0,
    inventory: bool = True,
) -> JSON:
    """A ready node; with `shares` each GPU is advertised so often as nvidia.com/gpu.shared."""
    sharing = Sharing(SharingMode.TIME_SLICING, shares, renamed=True) if shares else Sharing()
    found = Inventory(
        tuple(
            GPU(i, device(name, i), "NVIDIA-A100-SXM4-40GB", 40960, healthy=i not in sick)
            for i in range(gpus)
        ),
        sharing,
    )
    resource = vocabulary.GPU_SHARED if shares else vocabulary.GPU
    amount = gpus * shares if shares else gpus - len(sick)
    marks = {vocabulary.INVENTORY: annotations.write_inventory(found)} if inventory else {}
    return {
        "metadata": {**metadata(name, uid), "annotations": marks},
        "spec": {},
        "status": {
            "allocatable": {"cpu": cpu, "memory": "512Gi", "pods": "110", resource: str(amount)},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def gpu_pod(
    name: str,
    gpus: int = 1,
    *,
    uid: str | None = None,
    cpu: str = "1",
    group: str | None = None,
    resource: str = vocabulary.GPU,
    node: str | None = None,
    plan: list[str] | None = None,
    truth: list[str] | None = None,
    phase: str = "Pending",
    terminating: bool = False,
) -> JSON:
    """A pod with one container `train`. `plan` and `truth` are the device ids that annotation and status say."""
    limits = {"cpu": cpu, **({resource: str(gpus)} if gpus else {})}
    pod: JSON = {
        "metadata": metadata(name, uid, "default"),
        "spec": {"containers": [{"name": "train", "resources": {"limits": limits}}]},
        "status": {"phase": phase},
    }
    if group:
        pod["metadata"]["labels"] = {vocabulary.POD_GROUP: group}
    if node:
        pod["spec"]["nodeName"] = node
    if plan is not None:
        text = annotations.write_allocation({"train": {resource: tuple(plan)}})
        pod["metadata"]["annotations"] = {vocabulary.ALLOCATION: text}
    if truth is not None:
        held = [{"resourceID": found, "health": "Healthy"} for found in truth]
        status = {"name": "train", "allocatedResourcesStatus": [{"name": resource, "resources": held}]}
        pod["status"]["containerStatuses"] = [status]
    if terminating:
        pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return pod


def pod_group(name: str, needed: int) -> JSON:
    return {"metadata": metadata(name, None, "default"), "spec": {"minMember": needed}}


def reservation(group: str, seats: dict[str, tuple[str, list[str]]], *, expires: float, needed: int) -> JSON:
    """A Reservation object. `seats`: pod name -> node and device ids."""
    found = tuple(
        Seat(f"uid-{name}", name, node, {"train": {vocabulary.GPU: tuple(ids)}})
        for name, (node, ids) in seats.items()
    )
    obj = reservations.to_object(Reservation("default", group, needed, expires, found), f"uid-{group}")
    obj["metadata"] |= {"uid": f"uid-reservation-{group}", "resourceVersion": str(next(_versions))}
    return obj


class PodServer:
    """The Api port over a few pods. Binds them, and shows them to `observer` when told so."""

    def __init__(self, clock: Steps) -> None:
        self.clock = clock
        self.slow = 0.0
        """Seconds that a write takes."""
        self.pods: dict[str, JSON] = {}
        self.bindings: list[str] = []
        self.late = 0.0
        """Seconds that the answer to who is on a node takes."""
        self.asked: list[str] = []
        """By which fields pods were listed."""
        self.failures: list[int] = []
        """The statuses of the next writes that fail, before they do anything; 0: as it comes."""
        self.events: list[JSON] = []
        self.tells = True
        """Whether events are taken."""
        self.woken: list[str] = []
        self.lost_answers = 0
        """So many of the next writes are carried out but answered 500."""
        self.silent = False
        """Whether no question is answered."""

    def add(self, pod: JSON) -> JSON:
        self.pods[pod["metadata"]["name"]] = pod
        return pod

    async def send(self, write: Write) -> Reply:
        if "/events" in write.path:
            return self._tell(write)
        await self.clock.sleep_until(self.clock.now() + self.slow)
        if self.failures and (status := self.failures.pop(0)):
            return Reply(status, {"message": "injected"})
        body: Any = write.body
        if write.method == "PATCH":
            self.woken.append(write.path.rsplit("/", 1)[1])
            return Reply(200, {})
        pod = self.pods.get(body["metadata"]["name"])
        if pod is None or pod["metadata"]["uid"] != body["metadata"]["uid"]:
            return Reply(409, {"message": "Precondition failed: UID in precondition"})
        if "nodeName" in pod["spec"]:
            return Reply(409, {"message": "pod is already assigned to a node"})
        pod["spec"]["nodeName"] = body["target"]["name"]
        pod["metadata"].setdefault("annotations", {}).update(body["metadata"].get("annotations", {}))
        pod["metadata"]["resourceVersion"] = str(next(_versions))
        self.bindings.append(pod["metadata"]["name"])
        if self.lost_answers:
            self.lost_answers -= 1
            return Reply(500, {"message": "timeout"})
        return Reply(201, {})

    def _tell(self, write: Write) -> Reply:
        """An event for people; one that is there under that name is changed by a PATCH alone."""
        if not self.tells:
            return Reply(403, {"message": "forbidden"})
        body: Any = write.body
        name = write.path.rsplit("/", 1)[1] if write.method == "PATCH" else body["metadata"]["name"]
        known = next((found for found in self.events if found["metadata"]["name"] == name), None)
        if known is None:
            self.events.append(body)
        elif write.method == "PATCH":
            known.update(body)
        else:
            return Reply(409, {"message": "AlreadyExists"})
        return Reply(201, {})

    async def read(self, path: str, **query: str) -> Reply:
        if self.silent:
            return Reply(503, {"message": "cannot be reached"})
        if query:
            self.asked.append(query["fieldSelector"])
            node = query["fieldSelector"].removeprefix("spec.nodeName=")
            found = [pod for pod in self.pods.values() if pod["spec"].get("nodeName") == node]
            if self.late:
                await self.clock.sleep_until(self.clock.now() + self.late)
            return Reply(200, {"items": found})
        pod = self.pods.get(path.rsplit("/", 1)[1])
        return Reply(200, pod) if pod else Reply(404, {"message": "not found"})


class Stage:
    """An extender on a clock that is moved by hand, with its API server."""

    def __init__(self, *nodes: JSON, policy: str | Policy = "pack") -> None:
        self.clock = Steps()
        self.server = PodServer(self.clock)
        self.told: list[str] = []
        self.extender = self.started(policy)
        self.nodes = [node["metadata"]["name"] for node in nodes]
        self.extender.replace("nodes", nodes)
        for resource in ("pods", "reservations", "podgroups", "poddisruptionbudgets"):
            self.extender.replace(resource, [])

    def started(self, policy: str | Policy = "pack") -> Extender:
        """An extender that has seen nothing yet."""
        return Extender(self.server, self.clock, Settings(policy), lambda beat: self.told.append(beat.text))

    def restart(self, nodes: list[JSON], reservations: list[JSON]) -> None:
        """Another extender comes, which lists all there is in the order that helps least."""
        self.extender = self.started()
        self.extender.replace("pods", list(self.server.pods.values()))
        for resource in ("podgroups", "poddisruptionbudgets"):
            self.extender.replace(resource, [])
        self.extender.replace("nodes", nodes)
        self.extender.replace("reservations", reservations)
        self.settle()

    def create(self, *pods: JSON) -> None:
        for pod in pods:
            self.extender.observe("pods", "ADDED", self.server.add(pod))
        self.settle()

    def filter(self, pod: JSON, *nodes: str) -> JSON:
        names = list(nodes or self.nodes)
        answer = self.extender.filter({"Pod": pod, "Nodes": None, "NodeNames": names})
        self.settle()
        return answer

    def prioritize(self, pod: JSON, *nodes: str) -> list[str]:
        """The node names, best first."""
        answer = self.extender.prioritize({"Pod": pod, "NodeNames": list(nodes or self.nodes)})
        return [found["Host"] for found in sorted(answer, key=lambda found: -found["Score"])]

    def bind(self, pod: JSON, node: str) -> list[str]:
        """Start a Bind; its error will stand in the list once it is answered."""
        answers: list[str] = []
        metadata = pod["metadata"]
        args = {
            "PodName": metadata["name"],
            "PodNamespace": metadata["namespace"],
            "PodUID": metadata["uid"],
            "Node": node,
        }

        async def call() -> None:
            answers.append((await self.extender.bind(args))["Error"])

        self.clock.spawn(call(), f"bind {metadata['name']}")
        return answers

    def settle(self) -> None:
        """Do all that is due now."""
        settle(self.clock)

    def wait(self, seconds: float) -> None:
        """Let time pass, and do all that falls due on the way."""
        settle(self.clock, self.clock.now() + seconds)

    def bound(self, pod: JSON, node: str) -> str:
        """Bind at once; the error."""
        answers = self.bind(pod, node)
        self.settle()
        return answers[0]

    def delete(self, pod: JSON) -> None:
        self.server.pods.pop(pod["metadata"]["name"], None)
        self.extender.observe("pods", "DELETED", pod)
        self.settle()

    def change(self, name: str, part: str, **fields: object) -> None:
        """These fields in the metadata or the status of a pod are others from now on."""
        pod = self.server.pods[name]
        changed = {**pod, part: {**pod[part], **fields}}
        changed["metadata"] = {**changed["metadata"], "resourceVersion": str(next(_versions))}
        self.extender.observe("pods", "MODIFIED", self.server.add(changed))
        self.settle()
