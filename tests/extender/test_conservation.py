"""No interleaving gives a device two owners, and none loses one: the whole extender against a brute-force count.

The rules play the API server, a kubelet and the operator; events reach the extender late, twice or by relist.
"""

import copy
from collections import Counter
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gpuyard import annotations, vocabulary
from gpuyard.groups import reservations
from gpuyard.groups.plans import Planned, PlanRequest
from gpuyard.writes import JSON
from gpuyard_extender.ledger.ledger import PATHS, Ledger
from tests.extender.builders import Stage, gpu_node, gpu_pod, metadata

NODES = ("node-1", "node-2")
LONG = 300.0
"""Seconds after which no assumption and no reservation is left."""


def planned_ids(pod: JSON) -> list[str]:
    text = (pod["metadata"].get("annotations") or {}).get(vocabulary.ALLOCATION)
    held = annotations.read_allocation(text) or {}
    return [found for resources in held.values() for ids in resources.values() for found in ids]


def on_a_node(pod: JSON) -> bool:
    return bool(pod["spec"].get("nodeName")) and pod["status"]["phase"] not in ("Succeeded", "Failed")


class Conservation(RuleBasedStateMachine):
    @initialize()
    def start(self) -> None:
        self.stage = Stage(*map(self.new_node, NODES))
        self.nodes = {name: self.new_node(name) for name in NODES}
        self.recorded: dict[str, JSON] = {}
        self.undelivered: list[tuple[str, str, JSON]] = []
        self.delivered: list[tuple[str, str, JSON]] = []
        self.names = 0

    def new_node(self, name: str, uid: str | None = None) -> JSON:
        return gpu_node(name, 2, cpu="4", uid=uid)

    def asking(self, name: str, gpus: int, group: str | None) -> JSON:
        return gpu_pod(name, gpus, group=group)

    # --- what happens in the cluster

    def tell(self, resource: str, event: str, obj: JSON) -> None:
        self.undelivered.append((resource, event, copy.deepcopy(obj)))

    def changed(self, pod: JSON) -> None:
        pod["metadata"]["resourceVersion"] = metadata("", None)["resourceVersion"]
        self.tell("pods", "MODIFIED", pod)

    def new_pod(self, gpus: int, group: str | None = None) -> JSON:
        self.names += 1
        pod = self.stage.server.add(self.asking(f"p{self.names}", gpus, group))
        self.tell("pods", "ADDED", pod)
        return pod

    def pick(self, data: st.DataObject, pods: list[JSON]) -> JSON:
        return pods[data.draw(st.integers(0, len(pods) - 1))]

    def pods(self, *, bound: bool, group: bool = False) -> list[JSON]:
        return [
            pod
            for pod in self.stage.server.pods.values()
            if on_a_node(pod) == bound and ("labels" in pod["metadata"]) == group
        ]

    @rule(gpus=st.integers(0, 2))
    def create(self, gpus: int) -> None:
        self.new_pod(gpus)

    @rule(size=st.integers(2, 3))
    def create_gang(self, size: int) -> None:
        self.names += 1
        group = f"g{self.names}"
        for _ in range(size):
            self.new_pod(1, group)

    @precondition(lambda self: self.pods(bound=False))
    @rule(data=st.data(), trouble=st.sampled_from(["", "", "", "refused", "failed", "lost"]))
    def schedule(self, data: st.DataObject, trouble: str) -> None:
        """One scheduling cycle with its binding cycle, as kube-scheduler runs them."""
        pod = self.pick(data, self.pods(bound=False))
        node = self.choose(copy.deepcopy(pod))
        if node is None:
            return
        self.stage.server.failures = {"refused": [403], "failed": [500]}.get(trouble, [])
        self.stage.server.lost_answers = int(trouble == "lost")
        self.stage.bound(pod, node)
        self.stage.server.failures, self.stage.server.lost_answers = [], 0
        if on_a_node(pod):
            self.changed(pod)

    def choose(self, pod: JSON) -> str | None:
        passed = self.stage.filter(pod)["NodeNames"]
        if len(passed) < 2:
            return passed[0] if passed else None
        return self.stage.prioritize(pod, *passed)[0]

    @precondition(lambda self: self.pods(bound=False, group=True))
    @rule(data=st.data())
    def plan_and_bind_gang(self, data: st.DataObject) -> None:
        pod = self.pick(data, self.pods(bound=False, group=True))
        group = pod["metadata"]["labels"][vocabulary.POD_GROUP]
        members = [found for found in self.pods(bound=False, group=True) if self.group(found) == group]
        uids = tuple(found["metadata"]["uid"] for found in members)
        answer = self.stage.extender.plan(PlanRequest("default", group, len(members), uids))
        if not isinstance(answer, Planned):
            return
        self.record(group, reservations.to_object(answer.reservation, "uid"))
        waiting = members[: data.draw(st.integers(1, len(members)))]
        for member in waiting:
            node = self.choose(member)
            if node is not None:
                self.stage.bind(member, node)
        self.stage.settle()
        bound = [member for member in members if on_a_node(member)]
        assert len(bound) in (0, len(members))
        for member in bound:
            self.changed(member)
        self.stage.wait(4)

    def group(self, pod: JSON) -> str:
        return str(pod["metadata"]["labels"][vocabulary.POD_GROUP])

    def record(self, group: str, obj: JSON) -> None:
        event = "MODIFIED" if group in self.recorded else "ADDED"
        uid = self.recorded.get(group, {}).get("metadata", {}).get("uid")
        obj["metadata"] |= metadata(group, uid or f"uid-{self.names}-{group}", "default")
        self.recorded[group] = obj
        self.tell("reservations", event, obj)

    @precondition(lambda self: self.recorded)
    @rule(data=st.data())
    def drop_reservation(self, data: st.DataObject) -> None:
        group = data.draw(st.sampled_from(sorted(self.recorded)))
        self.names += 1
        self.tell("reservations", "DELETED", self.recorded.pop(group))

    @precondition(lambda self: self.pods(bound=True) + self.pods(bound=True, group=True))
    @rule(data=st.data(), change=st.sampled_from(["runs", "terminates", "ends", "goes"]))
    def bound_pod_changes(self, data: st.DataObject, change: str) -> None:
        pod = self.pick(data, self.pods(bound=True) + self.pods(bound=True, group=True))
        match change:
            case "runs":
                pod["status"] = {"phase": "Running", "containerStatuses": [status(pod)]}
            case "terminates":
                pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
            case "ends":
                pod["status"]["phase"] = "Succeeded"
        if change == "goes":
            self.delete(pod)
        else:
            self.changed(pod)

    @precondition(lambda self: self.pods(bound=False) + self.pods(bound=False, group=True))
    @rule(data=st.data())
    def delete_pending(self, data: st.DataObject) -> None:
        self.delete(self.pick(data, self.pods(bound=False) + self.pods(bound=False, group=True)))

    def delete(self, pod: JSON) -> None:
        del self.stage.server.pods[pod["metadata"]["name"]]
        self.tell("pods", "DELETED", pod)

    @rule(name=st.sampled_from(NODES))
    def node_comes_or_goes(self, name: str) -> None:
        if name in self.nodes:
            self.tell("nodes", "DELETED", self.nodes.pop(name))
        else:
            self.names += 1
            self.nodes[name] = self.new_node(name, uid=f"uid-{self.names}")
            self.tell("nodes", "ADDED", self.nodes[name])

    # --- how the extender comes to know it

    @rule(count=st.integers(1, 5), resource=st.sampled_from(sorted(PATHS)))
    def deliver(self, count: int, resource: str) -> None:
        """The next events of one resource; resources overtake each other."""
        for found in [found for found in self.undelivered if found[0] == resource][:count]:
            self.undelivered.remove(found)
            self.delivered.append(found)
            self.stage.extender.observe(*copy.deepcopy(found))
        self.stage.settle()

    @precondition(lambda self: self.delivered)
    @rule(data=st.data())
    def repeat(self, data: st.DataObject) -> None:
        self.stage.extender.observe(*copy.deepcopy(data.draw(st.sampled_from(self.delivered))))
        self.stage.settle()

    @rule()
    def relist(self) -> None:
        self.undelivered.clear()
        for resource, objects in self.objects().items():
            self.stage.extender.replace(resource, copy.deepcopy(objects))
        self.stage.settle()

    @rule(seconds=st.integers(1, 70))
    def time_passes(self, seconds: int) -> None:
        self.relist()
        self.stage.wait(seconds)

    # --- what must hold

    def objects(self) -> dict[str, list[JSON]]:
        pods = list(self.stage.server.pods.values())
        return {
            "pods": pods,
            "nodes": list(self.nodes.values()),
            "reservations": list(self.recorded.values()),
            "podgroups": [],
        }

    @invariant()
    def no_device_has_two_owners(self) -> None:
        pods = [pod for pod in self.stage.server.pods.values() if on_a_node(pod)]
        counts = Counter(found for pod in pods for found in planned_ids(pod))
        assert max(counts.values(), default=0) <= 1, counts

    def teardown(self) -> None:
        """Once everything is known and nothing is assumed, exactly the running pods hold something."""
        self.relist()
        self.stage.wait(LONG)
        now = self.stage.clock.now()
        cluster = self.stage.extender.ledger.cluster(now)
        rebuilt = Ledger()
        for resource, objects in self.objects().items():
            rebuilt.replace(resource, objects)
        assert cluster == rebuilt.cluster(now)
        pods = [pod for pod in self.stage.server.pods.values() if on_a_node(pod)]
        for name, node in cluster.nodes.items():
            here = [pod for pod in pods if pod["spec"]["nodeName"] == name]
            assert node.owners == {i: pod["metadata"]["uid"] for pod in here for i in planned_ids(pod)}
            assert node.used.get("cpu", 0) == 1000 * len(here)


class ConservationOfParts(Conservation):
    """The same with shares, of which some pods say how much of a GPU they are worth."""

    def new_node(self, name: str, uid: str | None = None) -> JSON:
        return gpu_node(name, 2, cpu="9", uid=uid, shares=4)

    def asking(self, name: str, gpus: int, group: str | None) -> JSON:
        pod = gpu_pod(name, resource=vocabulary.GPU_SHARED, group=group)
        pod["metadata"]["annotations"] = {vocabulary.GPU_MILLI: str(300 * gpus)} if gpus else {}
        return pod

    @invariant()
    def no_gpu_gives_more_than_it_has(self) -> None:
        used = Counter[str]()
        for pod in filter(on_a_node, self.stage.server.pods.values()):
            milli = int(pod["metadata"]["annotations"].get(vocabulary.GPU_MILLI, 250))
            used.update({found.partition("::")[0]: milli for found in planned_ids(pod)})
        assert max(used.values(), default=0) <= 1000, used


def status(pod: JSON) -> dict[str, Any]:
    """What a kubelet that gave the planned devices reports."""
    held = [{"resourceID": found} for found in planned_ids(pod)]
    [resource] = pod["spec"]["containers"][0]["resources"]["limits"].keys() - {"cpu"} or {vocabulary.GPU}
    return {"name": "train", "allocatedResourcesStatus": [{"name": resource, "resources": held}]}


TestConservation = Conservation.TestCase
TestConservation.settings = settings(deadline=None, max_examples=40, stateful_step_count=30)
TestConservationOfParts = ConservationOfParts.TestCase
TestConservationOfParts.settings = settings(deadline=None, max_examples=20, stateful_step_count=30)
