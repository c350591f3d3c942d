"""A cluster for the operator's tests: clock, API server, planner by GPU counts, scheduler with the barrier."""

import datetime
from collections.abc import Callable
from typing import Any

from gpuyard import reservations, vocabulary
from gpuyard.narration import Beat
from gpuyard.plans import PlanAnswer, Planned, PlanRequest, Unplaceable, Unready
from gpuyard.reservations import Reservation, Seat
from gpuyard.verdicts import Reason, Rejection
from gpuyard.writes import JSON, Write
from gpuyard_cluster.clock import Steps
from gpuyard_operator.memory import PATHS
from gpuyard_operator.service import Operator
from tests.gang_operator.fake_api import FakeApi, group_of

PLACES_SECONDS = 20.0


class World:
    """One namespace unless told otherwise. `settle` lets everything happen that happens without time passing."""

    def __init__(self) -> None:
        self.clock = Steps()
        self.api = FakeApi(self.clock.now)
        self.questions: list[PlanRequest] = []
        self.told: list[Beat] = []
        self.binds_refused: set[str] = set()
        self.answer: Callable[[PlanRequest], PlanAnswer] = self._by_counts
        self.operator = Operator(self.api, self.clock, self, self.told.append)
        self.restart()

    async def plan(self, request: PlanRequest) -> PlanAnswer:
        self.questions.append(request)
        return self.answer(request)

    def restart(self) -> None:
        """The operator loses all it knew."""
        self.operator.stop()
        self.operator = Operator(self.api, self.clock, self, self.told.append)
        self.api.events.clear()
        for resource in PATHS:
            self.operator.replace(resource, self.api.list(resource))

    # --- what people do
    def node(self, name: str, gpus: int) -> None:
        status = {"allocatable": {vocabulary.GPU: str(gpus)}}
        self._create("/api/v1/nodes", {"kind": "Node", "metadata": {"name": name}, "status": status})

    def group(self, name: str = "ring", namespace: str = "default", **spec: Any) -> None:
        metadata = {"name": name, "namespace": namespace}
        path = f"/apis/{vocabulary.POD_GROUP_API}/namespaces/{namespace}/podgroups"
        self._create(path, {"kind": "PodGroup", "metadata": metadata, "spec": spec})

    def pod(
        self,
        name: str,
        gpus: int = 1,
        group: str = "ring",
        namespace: str = "default",
        gates: tuple[str, ...] = (),
    ) -> None:
        ours = (vocabulary.GANG_GATE,) if group else ()
        spec = {
            "containers": [{"name": "main", "resources": {"limits": {vocabulary.GPU: str(gpus)}}}],
            "schedulingGates": [{"name": gate} for gate in (*gates, *ours)],
        }
        labels = {vocabulary.POD_GROUP: group} if group else {}
        metadata = {"name": name, "namespace": namespace, "labels": labels}
        path = f"/api/v1/namespaces/{namespace}/pods"
        self._create(
            path, {"kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}
        )

    def delete(self, path: str) -> None:
        self.api.remove(path)

    def phase(self, name: str, phase: str, namespace: str = "default") -> None:
        self.api.change(pod_path(name, namespace), lambda pod: pod["status"].update(phase=phase))

    def bind(self, name: str, node: str, namespace: str = "default") -> None:
        def edit(pod: JSON) -> None:
            pod["spec"]["nodeName"] = node
            at = datetime.datetime.fromtimestamp(self.clock.now(), datetime.UTC).isoformat()
            pod["status"]["conditions"] = [
                {"type": "PodScheduled", "status": "True", "lastTransitionTime": at}
            ]

        self.api.change(pod_path(name, namespace), edit)

    # --- what is seen
    def at(self, path: str) -> JSON | None:
        return self.api.objects.get(path)

    def places(self, name: str = "ring", namespace: str = "default") -> Reservation | None:
        obj = self.at(reservations.path(namespace, name))
        return None if obj is None else reservations.from_object(obj)

    def status(self, name: str = "ring", namespace: str = "default") -> JSON:
        obj = self.at(f"/apis/{vocabulary.POD_GROUP_API}/namespaces/{namespace}/podgroups/{name}")
        return {} if obj is None else obj.get("status", {})

    def condition(self, kind: str = "Scheduled", name: str = "ring", namespace: str = "default") -> JSON:
        found = self.status(name, namespace).get("conditions", [])
        return next((c for c in found if c["type"] == kind), {})

    def gates(self, name: str, namespace: str = "default") -> list[str]:
        return [
            g["name"] for g in self.api.objects[pod_path(name, namespace)]["spec"].get("schedulingGates", [])
        ]

    def bound(self) -> dict[str, str]:
        return {
            pod["metadata"]["name"]: pod["spec"]["nodeName"]
            for pod in self.api.list("pods")
            if "nodeName" in pod["spec"]
        }

    # --- time
    def settle(self) -> None:
        while self._deliver() or self.clock.step() is not None or self.schedule():
            pass

    def advance(self, seconds: float) -> None:
        """Let time pass, with all that happens on the way."""
        end = self.clock.now() + seconds
        self.settle()
        while (following := self.clock.next_at()) is not None and following <= end:
            self.clock.advance_to(following)
            self.settle()
        self.clock.advance_to(end)

    def schedule(self) -> bool:
        """kube-scheduler with the extender's barrier: a gang's members are bound when enough have arrived."""
        happened = False
        for obj in self.api.list("reservations"):
            places = reservations.from_object(obj)
            assert places is not None
            pods = {pod["metadata"]["uid"]: pod for pod in self.api.list("pods")}
            seated = [(seat, pods[seat.uid]) for seat in places.seats if seat.uid in pods]
            free = [(seat, pod) for seat, pod in seated if not pod["spec"].get("schedulingGates")]
            if self.clock.now() >= places.expires or len(free) < places.needed:
                continue
            for seat, pod in free:
                if "nodeName" not in pod["spec"] and seat.name not in self.binds_refused:
                    self.bind(seat.name, seat.node, places.namespace)
                    happened = True
        return happened

    def _deliver(self) -> bool:
        events, self.api.events[:] = list(self.api.events), []
        for event in events:
            self.operator.observe(*event)
        return bool(events)

    def _create(self, path: str, obj: JSON) -> None:
        assert self.api.do(Write("POST", path, obj)).ok

    def _by_counts(self, request: PlanRequest) -> PlanAnswer:
        pods = {pod["metadata"]["uid"]: pod for pod in self.api.list("pods")}
        if not all(uid in pods for uid in request.members):
            return Unready("pods not seen yet")
        free = self._free(request.group)
        seats = []
        for uid in request.members:
            wants = gpus_of(pods[uid])
            node = next((name for name in sorted(free) if free[name] >= wants), None)
            name = pods[uid]["metadata"]["name"]
            if node is None:
                detail = "needs {} GPUs, {} free"
                return Unplaceable(
                    name,
                    tuple(
                        Rejection(n, Reason.INSUFFICIENT_GPUS, detail.format(wants, free[n]))
                        for n in sorted(free)
                    ),
                )
            free[node] -= wants
            seats.append(Seat(uid, name, node, {}))
        expires = self.clock.now() + PLACES_SECONDS
        return Planned(Reservation(request.namespace, request.group, request.needed, expires, tuple(seats)))

    def _free(self, group: str) -> dict[str, int]:
        free = {
            n["metadata"]["name"]: int(n["status"]["allocatable"][vocabulary.GPU])
            for n in self.api.list("nodes")
        }
        for pod in self.api.list("pods"):
            if "nodeName" in pod["spec"] and pod["status"]["phase"] not in ("Succeeded", "Failed"):
                free[pod["spec"]["nodeName"]] -= gpus_of(pod)
        pods = {pod["metadata"]["uid"]: pod for pod in self.api.list("pods")}
        for obj in self.api.list("reservations"):
            places = reservations.from_object(obj)
            assert places is not None
            for seat in places.seats:
                if seat.uid in pods and "nodeName" not in pods[seat.uid]["spec"]:
                    free[seat.node] -= gpus_of(pods[seat.uid])
        return free


def pod_path(name: str, namespace: str = "default") -> str:
    return f"/api/v1/namespaces/{namespace}/pods/{name}"


def group_path(name: str = "ring", namespace: str = "default") -> str:
    return f"/apis/{vocabulary.POD_GROUP_API}/namespaces/{namespace}/podgroups/{name}"


def gpus_of(pod: JSON) -> int:
    return int(pod["spec"]["containers"][0]["resources"]["limits"][vocabulary.GPU])


__all__ = ["World", "group_of", "group_path", "pod_path"]
