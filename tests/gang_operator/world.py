"""A cluster for the operator's tests: clock, API server, planner by GPU counts, scheduler with the barrier."""

from collections.abc import Callable
from typing import Any

import yaml

from gpuyard import vocabulary
from gpuyard.groups import queues, reservations
from gpuyard.groups.plans import PlanAnswer, Planned, PlanRequest, Unplaceable, Unready
from gpuyard.groups.reservations import Reservation, Seat
from gpuyard.narration import Beat
from gpuyard.pods import fit
from gpuyard.pods.fit import NodeFit, PodFit
from gpuyard.verdicts import Reason, Rejection
from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.direct import feed
from gpuyard_cluster.clock import Steps
from gpuyard_operator.cache import PATHS
from gpuyard_operator.deciding.commit import LEAST_SECONDS
from gpuyard_operator.objects import groups
from gpuyard_operator.service import Operator
from tests.gang_operator.recorder import CRDS, DEFINITIONS, Recorder

PLACES_SECONDS = LEAST_SECONDS


class World:
    """One namespace unless told otherwise. `settle` lets everything happen that happens without time passing.

    Events of one resource arrive in order; `arrival` says which resource's come first.
    """

    def __init__(self, *, preempts: bool = True) -> None:
        self.preempts = preempts
        self.clock = Steps()
        self.api = Recorder(self.clock.now)
        self.questions: list[PlanRequest] = []
        self.told: list[Beat] = []
        self.binds_refused: set[str] = set()
        self._seen: tuple[int, frozenset[str]] | None = None
        self.arrival = list(PATHS)
        self.events: dict[str, list[Callable[[], None]]] = {resource: [] for resource in PATHS}
        self.answer: Callable[[PlanRequest], PlanAnswer] = self._by_counts
        self.operator = Operator(self.api, self.clock, self, self.told.append, preempts=self.preempts)
        self._feed = feed(self.api.server, self.operator, PATHS, self._hand_over)
        for namespace in ("blue", "red"):
            self.api.create("/api/v1/namespaces", {"metadata": {"name": namespace}})

    async def plan(self, request: PlanRequest) -> PlanAnswer:
        self.questions.append(request)
        return self.answer(request)

    def keep_conditions(self, kept: bool) -> None:
        """Whether PodGroups are as we define them, or as scheduler-plugins does."""
        found = yaml.safe_load((CRDS / "podgroups.yaml").read_text())
        [version] = found["spec"]["versions"]
        if not kept:
            del version["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]["conditions"]
        self.api.patch(f"{DEFINITIONS}/{found['metadata']['name']}", {"spec": found["spec"]})

    def restart(self) -> None:
        """The operator loses all it knew."""
        self.operator.stop()
        self.operator = Operator(self.api, self.clock, self, self.told.append, preempts=self.preempts)
        self._feed.stop()
        self._feed = feed(self.api.server, self.operator, PATHS, self._hand_over)

    # --- what people do
    def node(self, name: str, gpus: int) -> None:
        """It is ready: who creates it as a kubelet does finds it tainted until then."""
        self.api.create("/api/v1/nodes", {"metadata": {"name": name}})
        self.api.patch(node_path(name), {"spec": {"taints": []}})
        counts = {vocabulary.GPU: str(gpus), "cpu": "8", "memory": "8Gi", "pods": "110"}
        self.api.patch(f"{node_path(name)}/status", {"status": {"capacity": counts, "allocatable": counts}})

    def queue(self, name: str, gpus: int, **models: int) -> None:
        spec = {"quota": {vocabulary.GPU: gpus}, "models": models}
        body = {
            "apiVersion": "gpuyard.io/v1alpha1",
            "kind": "Queue",
            "metadata": {"name": name},
            "spec": spec,
        }
        self.api.create(queues.PATH, body)

    def group(self, name: str = "ring", namespace: str = "default", *, queue: str = "", **spec: Any) -> None:
        body = {
            "apiVersion": vocabulary.POD_GROUP_API,
            "kind": "PodGroup",
            "metadata": {"name": name, "annotations": {vocabulary.QUEUE: queue} if queue else {}},
            "spec": spec,
        }
        self.api.create(group_path("", namespace), body)

    def pod(
        self,
        name: str,
        gpus: int = 1,
        group: str = "ring",
        namespace: str = "default",
        gates: tuple[str, ...] = (),
        labels: JSON | None = None,
        **fields: Any,
    ) -> None:
        ours = (vocabulary.GANG_GATE,) if group else ()
        limits = {vocabulary.GPU: str(gpus)}
        spec = {
            "containers": [{"name": "main", "image": "busybox:1.36", "resources": {"limits": limits}}],
            "schedulingGates": [{"name": gate} for gate in (*gates, *ours)],
            **fields,
        }
        own = {vocabulary.POD_GROUP: group} if group else {}
        metadata = {"name": name, "labels": own | (labels or {})}
        self.api.create(pod_path("", namespace), {"metadata": metadata, "spec": spec})

    def delete(self, path: str) -> None:
        self.api.delete(path)

    def phase(self, name: str, phase: str, namespace: str = "default") -> None:
        self.api.patch(f"{pod_path(name, namespace)}/status", {"status": {"phase": phase}})

    def bind(self, name: str, node: str, namespace: str = "default") -> None:
        body = {"metadata": {"name": name}, "target": {"kind": "Node", "name": node}}
        self.api.create(f"{pod_path(name, namespace)}/binding", body)

    def bind_by_hand(self, name: str, node: str) -> None:
        """Past the operator: somebody takes all gates away and binds the pod."""
        self.api.patch(pod_path(name), {"spec": {"schedulingGates": []}})
        self.bind(name, node)

    # --- what is seen
    def at(self, path: str) -> JSON | None:
        return self.api.get(path)

    def places(self, name: str = "ring", namespace: str = "default") -> Reservation | None:
        obj = self.at(reservations.path(namespace, name))
        return reservations.from_object(obj) if obj is not None and reservations.holds_places(obj) else None

    def status(self, name: str = "ring", namespace: str = "default") -> JSON:
        obj = self.at(group_path(name, namespace))
        return {} if obj is None else obj.get("status", {})

    def condition(self, kind: str = "Scheduled", name: str = "ring", namespace: str = "default") -> JSON:
        """Where the group keeps none, that of its Reservation."""
        found = self.status(name, namespace).get("conditions")
        if found is None:
            record = self.at(reservations.path(namespace, name)) or {}
            found = record.get("status", {}).get("conditions", [])
        return next((c for c in found if c["type"] == kind), {})

    def gates(self, name: str, namespace: str = "default") -> list[str]:
        pod = self.at(pod_path(name, namespace))
        assert pod is not None
        return [gate["name"] for gate in pod["spec"].get("schedulingGates", [])]

    def bound(self) -> dict[str, str]:
        pods = self.api.list(PATHS["pods"])
        return {pod["metadata"]["name"]: pod["spec"]["nodeName"] for pod in pods if "nodeName" in pod["spec"]}

    # --- time
    def settle(self) -> None:
        while self.deliver() or self.clock.step() is not None or self._others():
            pass

    def advance(self, seconds: float) -> None:
        """Let time pass, with all that happens on the way."""
        end = self.clock.now() + seconds
        self.settle()
        while (following := self.clock.next_at()) is not None and following <= end:
            self.clock.advance_to(following)
            self.settle()
        self.clock.advance_to(end)

    def _others(self) -> bool:
        """Kubelet and scheduler, when there is something new for them."""
        seen = (self.api.server.revision, frozenset(self.binds_refused))
        if seen == self._seen:
            return False
        self._seen = seen
        freed = self._kubelet()
        return self.schedule() or freed

    def schedule(self) -> bool:
        """kube-scheduler with the extender's barrier: a gang's members are bound when enough have arrived."""
        happened = False
        for obj in self.api.list(PATHS["reservations"]):
            places = reservations.from_object(obj)
            assert places is not None
            pods = {pod["metadata"]["uid"]: pod for pod in self.api.list(PATHS["pods"])}
            seated = [(seat, pods[seat.uid]) for seat in places.seats if seat.uid in pods]
            free = [(seat, pod) for seat, pod in seated if not pod["spec"].get("schedulingGates")]
            if self.clock.now() >= places.expires or len(free) < places.needed:
                continue
            for seat, pod in free:
                if "nodeName" not in pod["spec"] and seat.name not in self.binds_refused:
                    self.bind(seat.name, seat.node, places.namespace)
                    happened = True
        return happened

    def deliver(self) -> bool:
        """Hand over the next event."""
        resource = next((name for name in self.arrival if self.events[name]), None)
        if resource is not None:
            self.events[resource].pop(0)()
        return resource is not None

    def _hand_over(self, name: str, call: Callable[[], None]) -> None:
        self.events[name.split()[0]].append(call)

    def _kubelet(self) -> bool:
        """Pods that are to go are gone."""
        going = [pod for pod in self.api.list(PATHS["pods"]) if pod["metadata"].get("deletionTimestamp")]
        for pod in going:
            self.delete(pod_path(pod["metadata"]["name"], pod["metadata"]["namespace"]))
        return bool(going)

    def _by_counts(self, request: PlanRequest) -> PlanAnswer:
        pods = {pod["metadata"]["uid"]: pod for pod in self.api.list(PATHS["pods"])}
        if not all(uid in pods for uid in request.members):
            return Unready("pods not seen yet")
        nodes = [NodeFit.of(node) for node in self.api.list(PATHS["nodes"])]
        free, seats = self._free(), []
        for uid in request.members:
            wants, wishes = gpus_of(pods[uid]), PodFit.of(pods[uid])
            unfit = {node.name: found for node in nodes if (found := fit.misplaced(wishes, node))}
            node = next((name for name in sorted(free) if free[name] >= wants and name not in unfit), None)
            name = pods[uid]["metadata"]["name"]
            if node is None:
                says = {n: (Reason.INSUFFICIENT_GPUS, f"needs {wants} GPUs, {free[n]} free") for n in free}
                says |= {n: (found.reason, found.text) for n, found in unfit.items()}
                return Unplaceable(name, tuple(Rejection(n, *says[n]) for n in sorted(says)))
            free[node] -= wants
            seats.append(Seat(uid, name, node, {}))
        expires = self.clock.now() + PLACES_SECONDS
        return Planned(Reservation(request.namespace, request.group, request.needed, expires, tuple(seats)))

    def _free(self) -> dict[str, int]:
        free = {
            n["metadata"]["name"]: int(n["status"]["allocatable"][vocabulary.GPU])
            for n in self.api.list(PATHS["nodes"])
        }
        for pod in self.api.list(PATHS["pods"]):
            if pod["spec"].get("nodeName") in free and pod["status"]["phase"] not in ("Succeeded", "Failed"):
                free[pod["spec"]["nodeName"]] -= gpus_of(pod)
        pods = {pod["metadata"]["uid"]: pod for pod in self.api.list(PATHS["pods"])}
        for obj in self.api.list(PATHS["reservations"]):
            places = reservations.from_object(obj)
            assert places is not None
            for seat in places.seats:
                if seat.uid in pods and "nodeName" not in pods[seat.uid]["spec"]:
                    free[seat.node] -= gpus_of(pods[seat.uid])
        return free


def pod_path(name: str, namespace: str = "default") -> str:
    return f"/api/v1/namespaces/{namespace}/pods/{name}".rstrip("/")


def node_path(name: str) -> str:
    return f"/api/v1/nodes/{name}"


def group_path(name: str = "ring", namespace: str = "default") -> str:
    return groups.path(namespace, name)


def gpus_of(pod: JSON) -> int:
    return int(pod["spec"]["containers"][0]["resources"]["limits"][vocabulary.GPU])
