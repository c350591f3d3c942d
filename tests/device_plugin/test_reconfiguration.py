"""Another configuration under running pods, on the embedded kubelet: they keep their devices, others come and go."""

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from gpuyard import vocabulary, yard
from gpuyard.writes import JSON, Write
from gpuyard_cluster.wiring.steps import StepsYard
from gpuyard_device_plugin.devices.advertised import FORGET_SECONDS
from tests.stepping import settle

GPU, SHARED = vocabulary.GPU, vocabulary.GPU_SHARED
PODS = "/api/v1/namespaces/default/pods"
SLICED = {"sharing": {"timeSlicing": {"renameByDefault": True, "resources": [{"name": GPU, "replicas": 4}]}}}


class Node:
    """One node of an embedded cluster, on a clock that is stepped."""

    def __init__(self, gpus: int, plugin: JSON, mig: JSON | None = None) -> None:
        self._mig = mig
        self.yard = StepsYard(yard.parse(self._document(gpus, plugin)))
        self.pass_on(3)

    def configure(self, gpus: int, plugin: JSON | None = None) -> None:
        self.yard.reconfigure(yard.parse(self._document(gpus, plugin or {})))
        self.pass_on(3)

    def restart_plugin(self) -> None:
        self.yard.restart("plugin n")
        self.pass_on(3)

    def told(self, resource: str) -> list[str]:
        """The health of each device in the plugin's list."""
        return [device.health for device in self.yard.plugin("n").devices(resource)]

    def pass_on(self, seconds: float) -> None:
        settle(self.yard.clock, self.yard.clock.now() + seconds)

    def submit(self, name: str, resource: str, count: int = 1) -> None:
        limits = {"resources": {"limits": {resource: str(count)}}}
        spec = {"containers": [{"name": "main", "image": "busybox:1.36", **limits}]}
        self._do(Write("POST", PODS, {"metadata": {"name": name}, "spec": spec}))

    def delete(self, name: str) -> None:
        self._do(Write("DELETE", f"{PODS}/{name}"))

    def phase(self, name: str) -> str:
        return str(self._get(f"{PODS}/{name}")["status"]["phase"])

    def visible(self, name: str) -> list[str]:
        log = self._get(f"{PODS}/{name}/log")["message"]
        [line] = [line for line in log.splitlines() if line.startswith("NVIDIA_VISIBLE_DEVICES=")]
        return str(line).partition("=")[2].split(",")

    def allocatable(self, resource: str) -> int:
        return int(self._get("/api/v1/nodes/n")["status"]["allocatable"].get(resource, "0"))

    def labels(self) -> dict[str, str]:
        return dict(self._get("/api/v1/nodes/n")["metadata"]["labels"])

    def _get(self, path: str) -> Any:
        return self.yard.clock.complete(self.yard.api.read(path)).body

    def _do(self, write: Write) -> None:
        reply = self.yard.clock.complete(self.yard.api.send(write))
        assert reply.ok, reply.reason
        self.pass_on(40 if write.method == "DELETE" else 3)

    def _document(self, gpus: int, plugin: JSON) -> JSON:
        model = {"model": "NVIDIA-A100-SXM4-40GB", "count": gpus}
        cut = [{"gpus": [0], "instances": self._mig}] if self._mig else []
        return {"nodes": [{"name": "n", "gpus": model, "mig": cut, "plugin": plugin}]}


@contextlib.contextmanager
def node(gpus: int = 2, plugin: JSON | None = None, mig: JSON | None = None) -> Iterator[Node]:
    found = Node(gpus, plugin or {}, mig)
    with contextlib.closing(found.yard):
        yield found


def test_gpus_that_appear_are_offered_and_used() -> None:
    with node(1) as n:
        n.submit("a", GPU)
        n.submit("b", GPU)
        assert (n.phase("a"), n.phase("b")) == ("Running", "Pending")
        n.configure(2)
        assert (n.phase("b"), n.allocatable(GPU), n.labels()["nvidia.com/gpu.count"]) == ("Running", 2, "2")


def test_a_gpu_that_vanishes_stays_with_its_pod_and_is_offered_to_nobody() -> None:
    with node(2) as n:
        n.submit("a", GPU, 2)
        n.configure(1)
        n.pass_on(FORGET_SECONDS)
        assert (n.phase("a"), n.allocatable(GPU)) == ("Running", 1)
        n.delete("a")
        n.submit("b", GPU)
        n.submit("c", GPU)
        assert (n.phase("b"), n.phase("c"), n.allocatable(GPU)) == ("Running", "Pending", 1)


def test_a_plugin_that_starts_anew_still_tells_of_a_gpu_that_vanished_under_a_pod() -> None:
    with node(2) as n:
        n.submit("a", GPU, 2)
        n.configure(1)
        n.restart_plugin()
        n.pass_on(FORGET_SECONDS)
        assert (n.phase("a"), n.allocatable(GPU), n.told(GPU)) == ("Running", 1, ["Healthy", "Unhealthy"])
        n.delete("a")
        assert n.told(GPU) == ["Healthy"]


def test_a_plugin_that_starts_anew_shares_no_gpu_that_a_pod_still_has_for_itself() -> None:
    with node(2) as n:
        n.submit("owner", GPU)
        n.configure(2, SLICED)
        n.restart_plugin()
        assert (n.phase("owner"), n.allocatable(SHARED), n.told(SHARED)) == (
            "Running",
            4,
            ["Unhealthy"] * 4 + ["Healthy"] * 4,
        )
        n.delete("owner")
        assert n.allocatable(SHARED) == 8


def test_a_gpu_that_flaps_ends_as_it_was_last_plugged() -> None:
    with node(2) as n:
        n.submit("a", GPU)
        for gpus in (1, 2, 1, 2, 3, 2):
            n.configure(gpus)
        n.pass_on(FORGET_SECONDS + 10)
        assert (n.phase("a"), n.allocatable(GPU), n.told(GPU)) == ("Running", 2, ["Healthy"] * 2)


def test_a_gpu_is_shared_only_once_its_owner_has_gone() -> None:
    with node(2) as n:
        n.submit("owner", GPU)
        [owned] = n.visible("owner")
        n.configure(2, SLICED)
        assert (n.phase("owner"), n.allocatable(SHARED), n.allocatable(GPU)) == ("Running", 4, 0)
        for i in range(5):
            n.submit(f"share-{i}", SHARED)
        phases = [n.phase(f"share-{i}") for i in range(5)]
        assert phases == ["Running"] * 4 + ["Pending"]
        assert owned not in {found for i in range(4) for found in n.visible(f"share-{i}")}
        n.delete("owner")
        assert n.visible("share-4") == [owned]


@pytest.mark.parametrize(
    ("plugin", "visible"),
    [
        ({"deviceIDStrategy": "index"}, ["0", "1"]),
        ({"deviceListStrategy": "volume-mounts"}, ["/var/run/nvidia-container-devices"]),
    ],
)
def test_a_container_sees_what_the_strategy_says(plugin: JSON, visible: list[str]) -> None:
    with node(2, {"flags": {"plugin": plugin}}) as n:
        n.submit("a", GPU, 2)
        assert n.visible("a") == visible


def test_shares_of_instances_are_spread_over_them_and_end_where_they_are_used_up() -> None:
    shared = {"renameByDefault": True, "resources": [{"name": "nvidia.com/mig-1g.5gb", "replicas": 2}]}
    plugin = {"flags": {"migStrategy": "mixed"}, "sharing": {"timeSlicing": shared}}
    resource = "nvidia.com/mig-1g.5gb.shared"
    with node(2, plugin, {"1g.5gb": 2, "2g.10gb": 1}) as n:
        counts = {name: n.allocatable(name) for name in (resource, "nvidia.com/mig-2g.10gb", GPU)}
        assert counts == {resource: 4, "nvidia.com/mig-2g.10gb": 1, GPU: 1}
        n.submit("two", resource, 2)
        assert len(set(n.visible("two"))) == 2
        n.submit("one", resource)
        n.submit("whole", GPU)
        n.submit("late", resource, 2)
        phases = [n.phase(name) for name in ("two", "one", "whole", "late")]
        assert phases == ["Running"] * 3 + ["Pending"]
        n.delete("two")
        assert n.phase("late") == "Running"
