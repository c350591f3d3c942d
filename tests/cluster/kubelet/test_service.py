from typing import Any

import pytest

from gpuyard import vocabulary
from gpuyard.writes import JSON
from gpuyard_cluster.kubelet.allocation import PluginError
from gpuyard_cluster.logs import NoLogsError
from tests.cluster.kubelet.counting_plugin import listed
from tests.cluster.kubelet.world import GPU, World, log, told
from tests.stepping import settle


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
