from typing import Any

import pytest

from gpuyard import vocabulary
from gpuyard.writes import JSON
from gpuyard_cluster.kubelet.admission import Refusal
from gpuyard_cluster.kubelet.checkpoint import Started
from gpuyard_cluster.kubelet.device_manager import Devices, Holding
from gpuyard_cluster.kubelet.pod_lifecycle import PodRecord, changes_at, next_write
from tests.cluster.small_api import pod

CHIP = "example.com/chip"
START = 1_700_000_000.0
STARTED = Started(START, {})
WAITING, RUNNING = PodRecord(None, None), PodRecord(STARTED, None)
REFUSED = PodRecord(None, Refusal("OutOfcpu", "Pod was rejected: no CPU"))
DEVICES = Devices(
    {CHIP: {"a": True, "b": False}}, frozenset({CHIP}), (Holding("uid", "main", CHIP, ("b", "a"), {}),)
)


def made(phase: str = "Pending", *, deleting: bool = False, **spec: Any) -> JSON:
    found = pod("p", {CHIP: "2"}, **spec)
    found["metadata"]["uid"] = "uid"
    found["status"]["phase"] = phase
    if deleting:
        found["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return found


def status(found: JSON, record: PodRecord, now: float = START) -> JSON:
    write = next_write(found, record, DEVICES, "10.0.0.1", now)
    assert write is not None
    assert isinstance(write.body, dict)
    assert (write.method, write.path) == ("PATCH", "/api/v1/namespaces/default/pods/p/status")
    assert write.body["metadata"] == {"uid": "uid"}
    found_status: JSON = write.body["status"]
    return found_status


def applied(found: JSON, written: JSON) -> JSON:
    return {**found, "status": {**found["status"], **written}}


def test_a_pod_that_waits_for_its_admission_is_left_alone() -> None:
    assert next_write(made(), WAITING, DEVICES, "10.0.0.1", START) is None


def test_a_running_pod_shows_its_devices_with_their_health() -> None:
    written = status(made(), RUNNING)
    (container,) = written["containerStatuses"]
    assert (written["phase"], container["ready"], container["started"]) == ("Running", True, True)
    assert container["state"] == {"running": {"startedAt": "2023-11-14T22:13:20Z"}}
    shown = [{"resourceID": "a", "health": "Healthy"}, {"resourceID": "b", "health": "Unhealthy"}]
    assert container["allocatedResourcesStatus"] == [{"name": CHIP, "resources": shown}]
    assert container["allocatedResources"] == {CHIP: "2"}


def test_what_is_written_already_is_not_written_again() -> None:
    found = made()
    found = applied(found, status(found, RUNNING))
    assert next_write(found, RUNNING, DEVICES, "10.0.0.1", START + 100) is None


def test_a_condition_that_somebody_else_changed_is_set_back_and_times_that_stand_are_kept() -> None:
    found = made()
    found = applied(found, status(found, RUNNING))
    for each in found["status"]["conditions"]:
        each["lastTransitionTime"] = "2020-01-01T00:00:00Z"
        if each["type"] == "PodScheduled":
            each.update(status="False", reason="SchedulerError", message="late")
    conditions = {each["type"]: each for each in status(found, RUNNING)["conditions"]}
    assert conditions["PodScheduled"] == {
        "type": "PodScheduled",
        "status": "True",
        "reason": None,
        "message": None,
        "lastTransitionTime": "2023-11-14T22:13:20Z",
    }
    assert conditions["Ready"]["lastTransitionTime"] == "2020-01-01T00:00:00Z"


def test_init_containers_have_ended_and_sidecars_run() -> None:
    side = {"name": "side", "restartPolicy": "Always"}
    written = status(made(initContainers=[{"name": "init"}, side]), RUNNING)
    init, sidecar = written["initContainerStatuses"]
    assert (init["state"]["terminated"]["exitCode"], init["ready"], init["started"]) == (0, True, False)
    assert ("running" in sidecar["state"], sidecar["ready"]) == (True, True)


def test_a_refused_pod_has_failed() -> None:
    assert status(made(), REFUSED) == {
        "phase": "Failed",
        "reason": "OutOfcpu",
        "message": "Pod was rejected: no CPU",
    }


@pytest.mark.parametrize(("code", "phase"), [("0", "Succeeded"), ("1", "Failed")])
def test_a_pod_ends_at_the_moment_that_was_planned_whenever_that_is_noticed(code: str, phase: str) -> None:
    found = made("Running", annotations={vocabulary.RUN_SECONDS: "10", vocabulary.EXIT_CODE: code})
    written = status(found, RUNNING, START + 500)
    state = written["containerStatuses"][0]["state"]["terminated"]
    assert (written["phase"], state["finishedAt"]) == (phase, "2023-11-14T22:13:30Z")
    assert "allocatedResourcesStatus" not in written["containerStatuses"][0]


def test_a_deleted_pod_is_killed_and_then_removed() -> None:
    found = made("Running", deleting=True)
    written = status(found, RUNNING)
    assert written["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 143
    removal = next_write(applied(found, written), RUNNING, DEVICES, "10.0.0.1", START)
    assert removal is not None
    assert isinstance(removal.body, dict)
    assert (removal.method, removal.path) == ("DELETE", "/api/v1/namespaces/default/pods/p")
    assert (removal.body["gracePeriodSeconds"], removal.body["preconditions"]) == (0, {"uid": "uid"})


@pytest.mark.parametrize(
    ("phase", "record"),
    [("Pending", WAITING), ("Pending", REFUSED), ("Succeeded", RUNNING), ("Failed", REFUSED)],
)
def test_a_deleted_pod_that_does_not_run_is_removed_at_once(phase: str, record: PodRecord) -> None:
    write = next_write(made(phase, deleting=True), record, DEVICES, "10.0.0.1", START)
    assert write is not None
    assert write.method == "DELETE"


def test_an_ended_pod_is_never_touched_again() -> None:
    for record in (WAITING, RUNNING, REFUSED):
        assert next_write(made("Succeeded"), record, DEVICES, "10.0.0.1", START) is None


def test_a_pod_whose_containers_wait_for_their_next_run_is_running_but_not_ready() -> None:
    found = made("Running", annotations={vocabulary.RUN_SECONDS: "10"}, restartPolicy="Always")
    written = status(found, RUNNING, START + 25)
    (container,) = written["containerStatuses"]
    assert (written["phase"], container["ready"], container["restartCount"]) == ("Running", False, 1)
    assert container["state"]["waiting"] == {
        "reason": "CrashLoopBackOff",
        "message": "back-off 10s restarting failed container=main pod=p_default(uid)",
    }
    assert container["lastState"]["terminated"]["finishedAt"] == "2023-11-14T22:13:40Z"
    ready = next(each for each in written["conditions"] if each["type"] == "Ready")
    assert (ready["status"], ready["reason"]) == ("False", "ContainersNotReady")
    assert changes_at(found, STARTED, START + 25) == START + 30


def test_a_restarted_container_runs_with_its_last_end_beside_it() -> None:
    found = made("Running", annotations={vocabulary.RUN_SECONDS: "10"}, restartPolicy="Always")
    (container,) = status(found, RUNNING, START + 12)["containerStatuses"]
    assert (container["ready"], container["restartCount"]) == (True, 1)
    assert container["state"]["running"]["startedAt"] == "2023-11-14T22:13:30Z"
    assert container["lastState"]["terminated"]["exitCode"] == 0


def test_a_pod_that_may_run_for_so_long_only_fails_then() -> None:
    found = made("Running", activeDeadlineSeconds=30)
    assert changes_at(found, STARTED, START) == START + 30
    written = status(found, RUNNING, START + 30)
    assert (written["phase"], written["reason"]) == ("Failed", "DeadlineExceeded")
    assert written["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 143
