"""On steps: whatever users, time and faults do, in whatever order, no law is broken and nobody is forgotten.

The same 40 walks are made each time; GPUYARD_INTERLEAVINGS=2000 makes as many new ones, in about half an hour.
"""

import os

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gpuyard.auditing.findings import Flaw
from gpuyard.writes import JSON
from gpuyard_cli.scenarios.invariants import COMMIT_SECONDS
from tests.e2e import laws
from tests.e2e.storm import RESOURCES, YARDS, Storm, container, pod, pod_group

WALKS = os.environ.get("GPUYARD_INTERLEAVINGS")
QUIET_SECONDS = 250.0
"""Longer than any assumption, promise or pause; shorter than kube-scheduler's 5 minutes, which would hide what was
forgotten."""
SECONDS = st.sampled_from([0, 0, 1, 4, 20])
Storm(
    "whole"
).close()  # the first CEL environment raises the recursion limit, which hypothesis minds within a test


class Interleavings(RuleBasedStateMachine):
    @initialize(kind=st.sampled_from(sorted(YARDS)), seed=st.integers(0, 3))
    def begin(self, kind: str, seed: int) -> None:
        self.storm, self.resources = Storm(kind, seed), RESOURCES[kind]
        self.half, self.names, self.checked = laws.HalfPlaced(), 0, (0, 0.0)
        self.storm.yard.settle()

    def name(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}-{self.names}"

    def resource(self, number: int) -> str:
        return self.resources[number % len(self.resources)]

    # --- what users do

    @rule(count=st.integers(0, 4), which=st.integers(0, 2), seconds=SECONDS)
    def create(self, count: int, which: int, seconds: int) -> None:
        containers = [container("main", self.resource(which), count)]
        self.storm.create(pod(self.name("pod"), containers, seconds=seconds))

    @rule(
        counts=st.lists(st.integers(0, 2), min_size=2, max_size=3),
        which=st.integers(0, 2),
        sidecar=st.booleans(),
    )
    def create_with_containers_before(self, counts: list[int], which: int, sidecar: bool) -> None:
        """The first container is an init container or a sidecar, the others are app containers."""
        first, *others = [container(f"c{n}", self.resource(which), count) for n, count in enumerate(counts)]
        init = first | ({"restartPolicy": "Always"} if sidecar else {})
        self.storm.create(pod(self.name("pod"), others, [init]))

    @rule(
        needed=st.sampled_from([2, 2, 3]),
        more=st.sampled_from([0, 0, 1, -1]),
        count=st.sampled_from([1, 1, 1, 0, 2]),
        which=st.integers(0, 2),
        seconds=SECONDS,
        refused=st.sampled_from([None, None, 403, 500]),
    )
    def create_gang(
        self, needed: int, more: int, count: int, which: int, seconds: int, refused: int | None
    ) -> None:
        """One member more or less than are needed; with `refused` the last one's Binding is refused."""
        group = self.name("gang")
        self.storm.create(pod_group(group, needed))
        for number in range(needed + more):
            self.add_member(f"{group}-{number}", group, count, which, seconds)
        if refused is not None:
            self.storm.refused[f"{group}-{needed - 1}"] = refused

    @precondition(lambda self: self.groups())
    @rule(data=st.data(), count=st.integers(0, 2), which=st.integers(0, 2))
    def join_gang(self, data: st.DataObject, count: int, which: int) -> None:
        group = data.draw(st.sampled_from(self.groups()))
        self.add_member(self.name(f"{group}-late"), group, count, which, 0)

    def add_member(self, name: str, group: str, count: int, which: int, seconds: int) -> None:
        containers = [container("main", self.resource(which), count)]
        self.storm.create(pod(name, containers, group=group, seconds=seconds))

    @precondition(lambda self: self.storm.pods())
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        self.storm.delete(
            "pod", data.draw(st.sampled_from([found["metadata"]["name"] for found in self.storm.pods()]))
        )

    @precondition(lambda self: self.groups())
    @rule(data=st.data())
    def delete_group(self, data: st.DataObject) -> None:
        self.storm.delete("podgroup", data.draw(st.sampled_from(self.groups())))

    def groups(self) -> list[str]:
        return [found["metadata"]["name"] for found in self.storm.objects("podgroups")]

    # --- what goes wrong

    @rule(data=st.data())
    def restart(self, data: st.DataObject) -> None:
        self.storm.restart(data.draw(st.sampled_from(sorted(self.storm.yard.parts))))

    @rule(data=st.data(), healthy=st.booleans())
    def health_changes(self, data: st.DataObject, healthy: bool) -> None:
        node = data.draw(st.sampled_from(self.storm.nodes))
        gpu = data.draw(st.integers(0, len(node.gpus) - 1))
        self.storm.injure(node.name, gpu, healthy=healthy)

    @rule(count=st.integers(1, 2))
    def writes_fail(self, count: int) -> None:
        self.storm.fail_writes(count)

    @precondition(lambda self: self.storm.pods())
    @rule(data=st.data(), status=st.sampled_from([403, 500]))
    def bindings_are_refused(self, data: st.DataObject, status: int) -> None:
        name = data.draw(st.sampled_from([found["metadata"]["name"] for found in self.storm.pods()]))
        self.storm.refused[name] = status

    @rule()
    def bindings_are_taken(self) -> None:
        self.storm.refused.clear()

    # --- what the cluster does

    @rule(count=st.integers(1, 12))
    def step(self, count: int) -> None:
        for happened in self.storm.steps(count):
            self.check(happened)

    @rule(seconds=st.sampled_from([0.0, 0.0, 0.3, 1.0, 5.0, 12.0]))
    def pass_time(self, seconds: float) -> None:
        """Everything happens up to a moment; then all news has arrived."""
        for happened in self.storm.until(self.storm.now + seconds):
            self.check(happened)
        assert list(laws.unreconciled(self.storm, Flaw.GANG_IN_PART, Flaw.INSTANCES_DIFFER)) == []

    def check(self, happened: str) -> None:
        """Only writes and kubelets change what is looked at, and time what is half placed."""
        state = (self.storm.yard.server.revision, self.storm.now)
        if state != self.checked or "kubelet" in happened:
            self.checked = state
            assert self.broken(self.storm.pods()) == [], happened

    def broken(self, pods: list[JSON]) -> list[str]:
        return [
            *laws.shared_by_status(self.storm, pods),
            *laws.shared_by_kubelets(self.storm),
            *laws.miscounted(self.storm),
            *self.half.look(self.storm, pods),
        ]

    @invariant()
    def laws_hold(self) -> None:
        self.check("")

    def teardown(self) -> None:
        if not hasattr(self, "storm"):
            return
        try:
            self.end()
        finally:
            self.storm.close()

    def end(self) -> None:
        self.storm.fail_writes(0)
        self.pass_time(2 * COMMIT_SECONDS)
        self.storm.refused.clear()
        self.pass_time(QUIET_SECONDS)
        pods = self.storm.pods()
        assert list(laws.turned_away(self.storm, pods)) == []
        assert list(laws.forgotten(self.storm, pods)) == []
        assert list(laws.imagined(self.storm, pods)) == []
        assert list(laws.unreconciled(self.storm)) == []
        for found in pods:
            self.storm.delete("pod", found["metadata"]["name"])
        self.pass_time(QUIET_SECONDS)
        assert self.storm.pods() == []
        assert list(laws.kept_back(self.storm)) == []
        self.fill()

    def fill(self) -> None:
        """Every healthy device can be had by somebody new."""
        for node, resource, count in laws.healthy(self.storm):
            name = self.name("new")
            self.storm.create(pod(name, [container("main", resource, count)], node=node))
        self.pass_time(QUIET_SECONDS)
        assert {found["status"]["phase"] for found in self.storm.pods()} <= {"Running"}


TestInterleavings = Interleavings.TestCase
TestInterleavings.settings = settings(
    deadline=None, max_examples=int(WALKS or 40), stateful_step_count=30, derandomize=WALKS is None
)
