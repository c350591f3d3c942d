from collections.abc import Sequence
from typing import Any

import pytest

from gpuyard import vocabulary
from gpuyard.narration import Beat
from gpuyard.writes import JSON
from gpuyard_cluster.clock import Steps
from gpuyard_cluster.kubelet.allocation import PluginError
from gpuyard_cluster.kubelet.disks import MemoryDisk
from gpuyard_cluster.kubelet.node_status import Machine
from gpuyard_cluster.kubelet.service import Kubelet
from gpuyard_cluster.logs import NoLogsError
from tests.cluster.kubelet.counting_plugin import CountingPlugin, listed
from tests.cluster.small_api import SmallApi, pod, settle

GPU = "nvidia.com/gpu"
MACHINE = Machine("node-1", {"rack": "r1"}, {"cpu": "8", "memory": "32Gi", "pods": "5"})


class World:
    """A node with a kubelet, and a plugin with four devices."""

    def __init__(self, *, plugin: bool = True, prefers: bool = False) -> None:
        self.steps = Steps()
        self.api = SmallApi(self.steps)
        self.disk = MemoryDisk()
        self.beats: list[Beat] = []
        self.plugin = CountingPlugin(
            self.steps,
            (lambda wanted: sorted(wanted.available_deviceIDs)[: wanted.allocation_size])
            if prefers
            else None,
        )
        self.kubelet = self.new_kubelet()
        if plugin:
            self.register()
        settle(self.steps)

    def new_kubelet(self) -> Kubelet:
        made = Kubelet(MACHINE, self.api, self.steps, self.disk, seed=1, narrate=self.beats.append)
        made.start()
        self.api.attach(made)
        return made

    def restart(self, *, plugin: bool = True) -> None:
        self.api.detach(self.kubelet)
        self.kubelet.stop()
        self.kubelet = self.new_kubelet()
        if plugin:
            self.register()
        settle(self.steps)

    def register(self, *devices: str) -> None:
        self.steps.complete(self.kubelet.plugin_registered(GPU, self.plugin))
        self.kubelet.devices(GPU, listed(*(devices or ("d0", "d1", "d2", "d3"))))
        settle(self.steps)

    def run(self, name: str, gpus: int = 0, **spec: Any) -> JSON:
        limits = {GPU: str(gpus)} if gpus else {}
        self.api.put("pods", pod(name, limits, nodeName=spec.pop("nodeName", "node-1"), **spec))
        settle(self.steps)
        return self.api.pod(name)

    def later(self, seconds: float) -> None:
        settle(self.steps, self.steps.now() + seconds)

    def delete(self, name: str) -> None:
        deleted = self.api.pod(name)
        deleted["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:30Z"
        self.api.put("pods", deleted)
        settle(self.steps)

    def ids(self, name: str) -> list[str]:
        found = self.api.pod(name)["status"]["containerStatuses"][0].get("allocatedResourcesStatus", [])
        return [device["resourceID"] for held in found for device in held["resources"]]

    def amounts(self) -> tuple[Any, Any]:
        status = self.api.node("node-1")["status"]
        return status["capacity"].get(GPU), status["allocatable"].get(GPU)


@pytest.fixture
def world() -> World:
    return World()


def log(world: World, name: str, *, previous: bool = False) -> list[str]:
    return [line.text for line in world.kubelet.logs("default", name, "main", previous=previous)]


def told(world: World) -> list[str]:
    """The events about pods: `reason: text`."""
    return [
        f"{event['reason']}: {event['message']}"
        for event in world.api.events
        if "Pod" in event["involvedObject"]["kind"]
    ]


def conditions(found: JSON) -> dict[str, str]:
    return {each["type"]: each["status"] for each in found["status"]["conditions"]}


def test_the_node_is_created_ready_and_without_devices() -> None:
    world = World(plugin=False)
    node = world.api.node("node-1")
    assert node["metadata"]["labels"] == {
        "kubernetes.io/hostname": "node-1",
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "rack": "r1",
    }
    assert node["status"]["allocatable"] == {"cpu": "8", "memory": "32Gi", "pods": "5"}
    assert conditions(node) == {"Ready": "True"}


def test_registered_devices_show_in_the_node(world: World) -> None:
    assert world.amounts() == ("4", "4")


def test_a_thousand_devices_are_written_once_in_the_canonical_form(world: World) -> None:
    world.register(*(f"d{number}" for number in range(1000)))
    assert world.amounts() == ("1k", "1k")
    writes = len(world.api.writes)
    world.kubelet.devices(GPU, listed(*(f"d{number}" for number in range(1000))))
    settle(world.steps)
    assert len(world.api.writes) == writes


def test_a_pod_runs_with_distinct_devices_that_its_status_and_its_log_show(world: World) -> None:
    for name in ("one", "two"):
        world.run(name, 2)
    assert world.api.pod("one")["status"]["phase"] == "Running"
    assert sorted(world.ids("one") + world.ids("two")) == ["d0", "d1", "d2", "d3"]
    status = world.api.pod("one")["status"]["containerStatuses"][0]
    assert status["allocatedResources"] == {GPU: "2"}
    assert f"VISIBLE={','.join(world.ids('one'))}" in log(world, "one")
    assert set(conditions(world.api.pod("one")).values()) == {"True"}


def test_the_log_is_the_sorted_environment_where_the_spec_wins(world: World) -> None:
    env = [
        {"name": "B", "value": "2"},
        {"name": "VISIBLE", "value": "mine"},
        {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
    ]
    limits = {"limits": {GPU: "1"}}
    world.run("one", containers=[{"name": "main", "resources": limits, "env": env}])
    assert log(world, "one") == ["A=node-1", "B=2", "HOSTNAME=one", "VISIBLE=mine"]
    for name, container, said in (("one", "x", "not valid"), ("two", "main", "not found")):
        with pytest.raises(NoLogsError, match=said):
            world.kubelet.logs("default", name, container)


def test_free_ids_are_handed_out_in_no_particular_order() -> None:
    taken = set()
    for seed in range(8):
        world = World(plugin=False)
        world.kubelet.stop()
        world.kubelet = Kubelet(MACHINE, world.api, world.steps, MemoryDisk(), seed=seed)
        world.kubelet.start()
        world.api.attach(world.kubelet)
        world.register()
        world.run("one", 1)
        taken |= set(world.ids("one"))
    assert len(taken) > 1


def test_the_plugin_may_prefer_devices() -> None:
    world = World(prefers=True)
    world.run("one", 1)
    world.run("two", 2)
    assert (world.ids("one"), world.ids("two")) == (["d0"], ["d1", "d2"])
    assert sorted(world.plugin.asked[1].available_deviceIDs) == ["d1", "d2", "d3"]


@pytest.mark.parametrize("preferred", [["unknown", "d0", "d0", "taken", "sick"], [], ["d9"] * 9])
def test_of_what_is_preferred_only_available_devices_are_used(preferred: Sequence[str]) -> None:
    world = World(plugin=False)
    world.plugin = CountingPlugin(world.steps, lambda wanted: preferred)
    world.register("taken")
    world.run("holder", 1)
    world.kubelet.devices(GPU, listed("taken", "d0", "d1", sick=["sick"]))
    world.run("one", 2)
    assert world.ids("one") == ["d0", "d1"]


def test_a_pod_that_asks_for_more_than_is_left_fails_in_the_kubelets_words(world: World) -> None:
    world.run("one", 3)
    refused = world.run("two", 2)["status"]
    assert (refused["phase"], refused["reason"]) == ("Failed", "UnexpectedAdmissionError")
    assert refused["message"] == (
        "Pod was rejected: Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. "
        "Requested: 2, Available: 1, which is unexpected"
    )
    world.run("three", 1)
    assert len(world.ids("three")) == 1, "the refused pod holds nothing"


def test_a_plugins_refusal_fails_the_pod(world: World) -> None:
    world.plugin.error = PluginError("FailedPrecondition", "overlaps a live pod")
    assert world.run("one", 1)["status"]["message"] == (
        "Pod was rejected: Allocate failed due to rpc error: code = FailedPrecondition desc = overlaps a live pod, "
        "which is unexpected"
    )


def test_with_the_plugin_dead_new_pods_fail_and_old_ones_run_on(world: World) -> None:
    world.run("old", 1)
    world.kubelet.plugin_gone(GPU)
    assert "no healthy devices present" in world.run("new", 1)["status"]["message"]
    assert world.amounts() == ("4", "0")
    assert world.api.pod("old")["status"]["phase"] == "Running"
    assert world.api.pod("old")["status"]["containerStatuses"][0]["allocatedResourcesStatus"][0][
        "resources"
    ] == [{"resourceID": world.ids("old")[0], "health": "Healthy"}]


def test_five_minutes_after_its_plugin_a_resource_is_gone_but_its_key_stays(world: World) -> None:
    world.kubelet.plugin_gone(GPU)
    world.later(299)
    assert world.amounts() == ("4", "0")
    world.later(1)
    assert world.amounts() == ("0", "0")
    world.register()
    assert world.amounts() == ("4", "4")


def test_a_sick_device_counts_in_capacity_only_and_shows_on_its_pod(world: World) -> None:
    world.run("one", 1)
    (held,) = world.ids("one")
    others = [found for found in ("d0", "d1", "d2", "d3") if found != held]
    world.kubelet.devices(GPU, listed(*others, sick=[held]))
    settle(world.steps)
    assert world.amounts() == ("4", "3")
    shown = world.api.pod("one")["status"]["containerStatuses"][0]["allocatedResourcesStatus"]
    assert shown == [{"name": GPU, "resources": [{"resourceID": held, "health": "Unhealthy"}]}]
    world.kubelet.devices(GPU, listed("d0", "d1", "d2", "d3"))
    settle(world.steps)
    assert world.amounts() == ("4", "4")


def test_a_sick_device_is_given_to_nobody(world: World) -> None:
    world.kubelet.devices(GPU, listed("d0", sick=["d1", "d2", "d3"]))
    world.run("one", 1)
    assert world.ids("one") == ["d0"]
    assert world.run("two", 1)["status"]["phase"] == "Failed"


def test_a_deleted_pod_ends_is_removed_and_frees_its_devices(world: World) -> None:
    world.run("one", 4)
    world.delete("one")
    assert ("pods", "default", "one") not in world.api.objects
    killing, removal = [write for write in world.api.writes if "/events" not in write.path][-2:]
    assert (removal.method, removal.body["gracePeriodSeconds"]) == ("DELETE", 0)  # type: ignore[index, call-overload]
    killed = killing.body["status"]  # type: ignore[index, call-overload]
    assert killed["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 143
    world.run("two", 4)
    assert world.api.pod("two")["status"]["phase"] == "Running"


def test_a_pod_removed_by_force_frees_its_devices(world: World) -> None:
    world.run("one", 4)
    world.api.remove("pods", "one", "default")
    settle(world.steps)
    world.run("two", 4)
    assert world.api.pod("two")["status"]["phase"] == "Running"


@pytest.mark.parametrize(
    ("code", "phase", "reason"), [("0", "Succeeded", "Completed"), ("3", "Failed", "Error")]
)
def test_a_fake_container_ends_when_its_annotation_says(
    world: World, code: str, phase: str, reason: str
) -> None:
    world.run("one", 4, annotations={vocabulary.RUN_SECONDS: "60", vocabulary.EXIT_CODE: code})
    world.later(59)
    assert world.api.pod("one")["status"]["phase"] == "Running"
    world.later(1)
    status = world.api.pod("one")["status"]
    ended = status["containerStatuses"][0]
    assert (status["phase"], ended["state"]["terminated"]["reason"], ended["ready"]) == (phase, reason, False)
    assert conditions(world.api.pod("one"))["Ready"] == "False"
    world.run("two", 4)
    assert world.api.pod("two")["status"]["phase"] == "Running", (
        "its devices are free while the object exists"
    )
    assert "VISIBLE=d0,d1,d2,d3" in log(world, "one")


@pytest.mark.parametrize("text", ["soon", "-1", "nan", "inf", ""])
def test_an_annotation_that_makes_no_sense_is_ignored_and_reported(world: World, text: str) -> None:
    world.run("one", annotations={vocabulary.RUN_SECONDS: text})
    world.later(1000)
    assert world.api.pod("one")["status"]["phase"] == "Running"
    assert any(vocabulary.RUN_SECONDS in beat.text for beat in world.beats)


def test_admission_is_serial_and_a_slow_plugin_keeps_every_pod_waiting(world: World) -> None:
    world.plugin.seconds = 6.0
    world.run("gpu", 1)
    world.run("plain")
    assert world.api.pod("plain")["status"]["phase"] == "Pending"
    world.later(6)
    assert world.api.pod("plain")["status"]["phase"] == "Running"


def test_pod_resources_shows_exactly_the_pod_in_hand_last() -> None:
    world = World(prefers=True)
    world.run("first", 1)
    shown: list[Any] = []
    world.plugin.on_preferred = lambda: shown.extend(
        (found.name, [device for part in found.containers[0].devices for device in part.device_ids])
        for found in world.kubelet.pod_resources().pod_resources
    )
    world.run("second", 1)
    assert shown == [("first", ["d0"]), ("second", [])]


def test_a_container_uses_its_init_containers_devices_again() -> None:
    world = World(prefers=True)
    init = {"name": "prepare", "resources": {"limits": {GPU: "1"}}}
    world.run("one", 2, initContainers=[init])
    status = world.api.pod("one")["status"]
    assert status["initContainerStatuses"][0]["state"]["terminated"]["exitCode"] == 0
    assert "allocatedResourcesStatus" not in status["initContainerStatuses"][0]
    assert world.ids("one") == ["d0", "d1"]
    assert list(world.plugin.asked[1].must_include_deviceIDs) == ["d0"]
    world.run("two", 2)
    assert world.ids("two") == ["d2", "d3"]


def test_an_app_container_served_by_init_devices_alone_prefers_nothing() -> None:
    world = World(prefers=True)
    init = {"name": "prepare", "resources": {"limits": {GPU: "2"}}}
    world.run("one", 1, initContainers=[init])
    assert len(world.plugin.asked) == 1
    assert len(world.plugin.allocated) == 2
    assert set(world.ids("one")) < {"d0", "d1"}


def test_a_sidecars_device_is_used_by_nobody_else(world: World) -> None:
    sidecar = {"name": "proxy", "restartPolicy": "Always", "resources": {"limits": {GPU: "2"}}}
    world.run("one", 2, initContainers=[sidecar])
    assert set(world.plugin.allocated[0]).isdisjoint(world.plugin.allocated[1])
    (listed_pod,) = world.kubelet.pod_resources().pod_resources
    assert [container.name for container in listed_pod.containers] == ["proxy", "main"]


def test_pods_of_other_nodes_are_none_of_its_business(world: World) -> None:
    world.run("far", 1, nodeName="node-2")
    assert world.api.pod("far")["status"] == {"phase": "Pending"}
    assert world.plugin.allocated == []


def test_a_pod_that_does_not_fit_the_node_itself_is_refused(world: World) -> None:
    assert world.run("picky", nodeSelector={"disk": "ssd"})["status"]["reason"] == "NodeAffinity"
    world.run("big", containers=[{"name": "main", "resources": {"limits": {"cpu": "6"}}}])
    refused = world.run("bigger", containers=[{"name": "main", "resources": {"limits": {"cpu": "3"}}}])
    assert refused["status"]["reason"] == "OutOfcpu"
    assert "requested: 3000, used: 6000, capacity: 8000" in refused["status"]["message"]


def test_a_resource_that_no_plugin_registered_is_not_the_kubelets_business(world: World) -> None:
    world.run("virtual", containers=[{"name": "main", "resources": {"limits": {"example.com/x": "1"}}}])
    assert world.api.pod("virtual")["status"]["phase"] == "Running"


def test_a_restarted_kubelet_knows_its_pods_and_their_devices(world: World) -> None:
    world.run("one", 3, annotations={vocabulary.RUN_SECONDS: "60"})
    before = world.api.pod("one")
    world.later(10)
    world.restart(plugin=False)
    assert world.amounts() == ("0", "0"), "as long as the plugin has not registered again"
    world.register()
    assert world.api.pod("one") == before
    assert len(world.plugin.allocated) == 1, "nothing is allocated again"
    assert world.run("two", 2)["status"]["phase"] == "Failed"
    world.later(50)
    assert world.api.pod("one")["status"]["phase"] == "Succeeded"


def test_what_ended_while_the_kubelet_was_away_is_free_when_it_is_back(world: World) -> None:
    world.run("one", 4)
    world.api.detach(world.kubelet)
    world.kubelet.stop()
    world.api.remove("pods", "one", "default")
    world.kubelet = world.new_kubelet()
    world.register()
    assert world.run("two", 4)["status"]["phase"] == "Running"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"Data": {}, "Checksum": 1}', b'{"Data": 5}'])
def test_a_damaged_disk_is_reported_and_the_kubelet_starts(content: bytes) -> None:
    world = World()
    for name in list(world.disk.files):
        world.disk.files[name] = content
    world.restart()
    assert sum("ignored" in beat.text for beat in world.beats) >= 1
    assert world.run("one", 4)["status"]["phase"] == "Running"


@pytest.mark.parametrize("failing", range(8))
def test_any_one_write_may_fail(failing: int) -> None:
    world = World(plugin=False)
    world.api.refuse = lambda write: 500 if len(world.api.writes) == failing + 1 else None
    world.restart()
    world.run("one", 2, annotations={vocabulary.RUN_SECONDS: "60"})
    world.run("two", 3)
    world.later(5)
    assert world.api.pod("two")["status"]["phase"] == "Failed"
    world.later(60)
    assert world.api.pod("one")["status"]["phase"] == "Succeeded"
    world.delete("one")
    world.later(5)
    assert ("pods", "default", "one") not in world.api.objects
    assert world.amounts() == ("4", "4")


def test_a_pod_deleted_while_its_plugin_thinks_leaves_nothing_behind(world: World) -> None:
    world.plugin.seconds = 6.0
    world.run("one", 4)
    world.api.remove("pods", "one", "default")
    world.later(6)
    world.plugin.seconds = 0.0
    assert world.run("two", 4)["status"]["phase"] == "Running"


def test_a_kubelet_that_died_while_its_plugin_was_thinking_writes_nothing_more(world: World) -> None:
    world.plugin.seconds = 6.0
    world.run("one", 2)
    world.restart()
    world.later(20)
    assert world.api.pod("one")["status"]["phase"] == "Running"
    entries = world.disk.files["kubelet_internal_checkpoint"].count(b"ContainerName")
    assert entries == 1


def test_two_runs_are_equal() -> None:
    def run() -> list[Any]:
        world = World()
        for name in ("one", "two", "three"):
            world.run(name, 1)
        return world.api.list("pods")

    assert run() == run()


def test_people_are_told_of_a_pods_start_and_end() -> None:
    world = World()
    world.run("one", 1)
    world.delete("one")
    assert told(world) == [
        'Pulled: Container image "busybox:1.36" already present on machine and can be accessed by the pod',
        "Created: Container created",
        "Started: Container started",
        "Killing: Stopping container main",
    ]


def test_people_are_told_why_a_pod_was_refused() -> None:
    world = World()
    world.run("one", 5)
    (line,) = told(world)
    assert line.startswith("UnexpectedAdmissionError: Pod was rejected: Allocate failed")


def test_a_container_that_ends_is_started_again_and_its_last_output_is_kept() -> None:
    world = World()
    world.run("one", 1, annotations={vocabulary.RUN_SECONDS: "60"}, restartPolicy="Always")
    ids = world.ids("one")
    with pytest.raises(NoLogsError, match='previous terminated container "main" in pod "one" not found'):
        log(world, "one", previous=True)
    world.later(60)
    (container,) = world.api.pod("one")["status"]["containerStatuses"]
    assert (container["restartCount"], container["ready"], world.ids("one")) == (1, True, ids)
    assert log(world, "one", previous=True) == log(world, "one")
    world.later(60)
    (container,) = world.api.pod("one")["status"]["containerStatuses"]
    assert container["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert any(
        line.startswith("BackOff: Back-off restarting failed container main in pod one_default")
        for line in told(world)
    )
    assert world.api.pod("one")["status"]["phase"] == "Running"


def test_a_pod_with_devices_keeps_them_while_its_containers_wait() -> None:
    world = World()
    world.run("one", 4, annotations={vocabulary.RUN_SECONDS: "1"}, restartPolicy="Always")
    world.later(5)
    assert world.run("two", 1)["status"]["reason"] == "UnexpectedAdmissionError"
