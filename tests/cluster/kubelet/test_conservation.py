"""Whatever happens, in whatever order: no device has two owners, nothing leaks, and waiting pods say why.

A scheduler and two kubelets on the real API server, single-stepped.
"""

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard import vocabulary
from gpuyard.writes import JSON, PatchType, Write
from gpuyard_cluster.apiserver.direct import DirectApi, Feed, feed
from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.requests import Request
from gpuyard_cluster.apiserver.server import APIServer
from gpuyard_cluster.clock import Steps
from gpuyard_cluster.kubelet.disks import MemoryDisk
from gpuyard_cluster.kubelet.node_status import Machine
from gpuyard_cluster.kubelet.service import Kubelet
from gpuyard_cluster.scheduler.event_handlers import RESOURCES
from gpuyard_cluster.scheduler.service import Scheduler
from tests.cluster.kubelet.counting_plugin import CountingPlugin, listed
from tests.cluster.small_api import pod
from tests.stepping import settle

CHIP = "example.com/chip"
NODES = ("node-1", "node-2")


class World:
    """Two nodes with three devices each; every part can lose its memory."""

    def __init__(self) -> None:
        self.steps = Steps()
        self.server = APIServer(self.steps.now)
        self.server.faults.append(self._fault)
        self.failing = 0
        self.api = DirectApi(self.server)
        self.disks = {name: MemoryDisk() for name in NODES}
        self.sick: set[str] = set()
        self.gone: set[str] = set()
        self.parts: dict[str, tuple[Any, Feed]] = {}
        for name in ("scheduler", *NODES):
            self.start(name)
        settle(self.steps)
        self._untaint()

    def _untaint(self) -> None:
        """What the node lifecycle controller does with nodes that are ready; it is not here."""
        for name in NODES:
            write = Write("PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": None}}, PatchType.MERGE)
            assert self.steps.complete(self.api.send(write)).ok

    def _fault(self, request: Request) -> ApiError | None:
        self.failing -= 1
        return ApiError(500, "InternalError", "injected") if self.failing == 0 else None

    def start(self, name: str) -> None:
        """Start a part, or drop its memory."""
        if name in self.parts:
            part, told = self.parts.pop(name)
            told.stop()
            part.stop()
        made = self._scheduler() if name == "scheduler" else self._kubelet(name)
        made.start()
        self.parts[name] = (made, feed(self.server, made, RESOURCES, self._deliver))
        if name != "scheduler" and name not in self.gone:
            self.list_devices(name, register=True)

    def _deliver(self, what: str, call: Callable[[], None]) -> None:
        self.steps.call_at(self.steps.now(), what, call)

    def _scheduler(self) -> Scheduler:
        return Scheduler(self.api, self.steps, seed=1)

    def _kubelet(self, name: str) -> Kubelet:
        machine = Machine(name, {}, {"cpu": "8", "memory": "8Gi", "pods": "20"})
        return Kubelet(machine, self.api, self.steps, self.disks[name], seed=1)

    def kubelet(self, name: str) -> Kubelet:
        found = self.parts[name][0]
        assert isinstance(found, Kubelet)
        return found

    def list_devices(self, name: str, *, register: bool = False) -> None:
        if register:
            self.steps.complete(self.kubelet(name).plugin_registered(CHIP, CountingPlugin(self.steps)))
        ids = {f"{name}-{number}" for number in range(3)}
        self.kubelet(name).devices(CHIP, listed(*sorted(ids - self.sick), sick=sorted(ids & self.sick)))

    def write(self, write: Write) -> None:
        self.steps.complete(self.api.send(write))

    def pods(self) -> list[JSON]:
        items: list[JSON] = self.steps.complete(self.api.read("/api/v1/pods")).body["items"]
        return items

    # --- what may happen

    def create(self, number: int, count: int) -> None:
        seconds = {vocabulary.RUN_SECONDS: "7"} if number % 2 else {}
        body = pod(f"p{number}", {CHIP: str(count)}, annotations=seconds)
        self.write(Write("POST", "/api/v1/namespaces/default/pods", body))

    def delete(self, number: int, force: bool) -> None:
        query = {"gracePeriodSeconds": "0"} if force else {}
        self.write(Write("DELETE", f"/api/v1/namespaces/default/pods/p{number}", query=query))

    def plugin_dies(self, name: str) -> None:
        if name not in self.gone:
            self.gone.add(name)
            self.kubelet(name).plugin_gone(CHIP)

    def plugin_is_back(self, name: str) -> None:
        self.gone.discard(name)
        self.list_devices(name, register=True)

    def health(self, name: str, number: int) -> None:
        self.sick ^= {f"{name}-{number}"}
        if name not in self.gone:
            self.list_devices(name)

    def forget(self, name: str) -> None:
        self.start(name)

    def fail_a_write(self, number: int) -> None:
        self.failing = number

    def step(self, count: int) -> None:
        for _ in range(count):
            self.steps.step()

    def wait(self, seconds: int) -> None:
        settle(self.steps, self.steps.now() + seconds)

    # --- what must hold

    def check_owners(self) -> None:
        owners: dict[str, str] = {}
        for found in self.pods():
            if found["status"]["phase"] != "Running":
                continue
            for device in _ids(found):
                assert owners.setdefault(device, found["metadata"]["uid"]) == found["metadata"]["uid"]
                assert device.startswith(found["spec"]["nodeName"])


def _ids(found: JSON) -> list[str]:
    statuses = found["status"].get("containerStatuses", [])
    held = [part for status in statuses for part in status.get("allocatedResourcesStatus", [])]
    return [device["resourceID"] for part in held for device in part["resources"]]


_NUMBER, _NODE = st.integers(0, 9), st.sampled_from(NODES)
EVENTS = st.one_of(
    st.tuples(st.just("create"), _NUMBER, st.integers(1, 3)),
    st.tuples(st.just("create"), _NUMBER, st.integers(1, 3)),
    st.tuples(st.just("delete"), _NUMBER, st.booleans()),
    st.tuples(st.just("plugin_dies"), _NODE),
    st.tuples(st.just("plugin_is_back"), _NODE),
    st.tuples(st.just("health"), _NODE, st.integers(0, 2)),
    st.tuples(st.just("forget"), st.sampled_from(("scheduler", *NODES))),
    st.tuples(st.just("fail_a_write"), st.integers(1, 4)),
    st.tuples(st.just("step"), st.integers(1, 6)),
    st.tuples(st.just("wait"), st.integers(0, 12)),
)


@settings(deadline=None, max_examples=30)
@given(st.lists(EVENTS, min_size=5, max_size=30))
def test_no_device_has_two_owners_and_nothing_leaks(events: list[tuple[Any, ...]]) -> None:
    world = World()
    for number in (0, 1, 2):
        world.create(number, 1)
    for name, *arguments in events:
        getattr(world, name)(*arguments)
        world.check_owners()
    world.sick.clear()
    world.failing = 0
    for name in NODES:
        world.plugin_is_back(name)
    world.wait(30)
    world.check_owners()
    _check_that_waiting_pods_say_why(world)
    for found in world.pods():
        world.write(Write("DELETE", f"/api/v1/namespaces/default/pods/{found['metadata']['name']}"))
    world.wait(30)
    assert world.pods() == []
    for number in (20, 22):
        world.create(number, 3)
    world.wait(1)
    assert {found["status"]["phase"] for found in world.pods()} == {"Running"}, "every device was free again"


def _check_that_waiting_pods_say_why(world: World) -> None:
    running = sum(len(_ids(found)) for found in world.pods() if found["status"]["phase"] == "Running")
    for found in world.pods():
        if not found["spec"].get("nodeName"):
            (condition,) = found["status"]["conditions"]
            assert (condition["type"], condition["reason"]) == ("PodScheduled", "Unschedulable")
            assert "Insufficient example.com/chip" in condition["message"]
            assert running > 0
