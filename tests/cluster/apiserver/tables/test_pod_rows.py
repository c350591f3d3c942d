"""A pod in one line."""

from typing import Any

import pytest

from gpuyard_cluster.apiserver.tables.pod_rows import cells

NOW = 1000.0
STARTED = "1970-01-01T00:15:00Z"
GATED = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
READY = {"type": "Ready", "status": "True"}
RUNNING = {"name": "main", "ready": True, "state": {"running": {}}}


def row(status: dict[str, Any], deleted: bool = False, **spec: Any) -> list[Any]:
    metadata = {"name": "p", "creationTimestamp": STARTED} | (
        {"deletionTimestamp": STARTED} if deleted else {}
    )
    return cells(
        {"metadata": metadata, "spec": {"containers": [{"name": "main"}], **spec}, "status": status}, NOW
    )


def ended(**fields: Any) -> dict[str, Any]:
    return {"name": "main", "state": {"terminated": fields}}


def test_a_running_pod_shows_where_it_is() -> None:
    status = {"phase": "Running", "containerStatuses": [RUNNING], "podIP": "10.0.0.1"}
    assert row(status, nodeName="n1") == ["1/1", "Running", "0", "100s", "10.0.0.1", "n1", "<none>", "<none>"]


@pytest.mark.parametrize(
    ("status", "shown"),
    [
        ({"phase": "Pending"}, "Pending"),
        ({"phase": "Pending", "conditions": [GATED]}, "SchedulingGated"),
        ({"phase": "Failed", "reason": "Evicted"}, "Evicted"),
        (
            {"phase": "Pending", "containerStatuses": [{"state": {"waiting": {"reason": "ErrImagePull"}}}]},
            "ErrImagePull",
        ),
        ({"phase": "Succeeded", "containerStatuses": [ended(reason="Completed", exitCode=0)]}, "Completed"),
        ({"phase": "Failed", "containerStatuses": [ended(exitCode=3)]}, "ExitCode:3"),
        ({"phase": "Failed", "containerStatuses": [ended(exitCode=137, signal=9)]}, "Signal:9"),
        ({"phase": "Running", "containerStatuses": [ended(reason="Completed"), RUNNING]}, "NotReady"),
        (
            {
                "phase": "Running",
                "containerStatuses": [ended(reason="Completed"), RUNNING],
                "conditions": [READY],
            },
            "Running",
        ),
    ],
)
def test_the_status_tells_why_containers_do_not_run(status: dict[str, Any], shown: str) -> None:
    assert row(status)[1] == shown


@pytest.mark.parametrize(
    ("states", "shown"),
    [
        ([{"running": {}}], "Init:0/2"),
        ([{"terminated": {"exitCode": 0}}, {"waiting": {"reason": "PodInitializing"}}], "Init:1/2"),
        ([{"terminated": {"exitCode": 1, "reason": "Error"}}], "Init:Error"),
        ([{"waiting": {"reason": "CrashLoopBackOff"}}], "Init:CrashLoopBackOff"),
        ([{"terminated": {"exitCode": 0}}, {"terminated": {"exitCode": 0}}], "Pending"),
    ],
)
def test_init_containers_come_first(states: list[dict[str, Any]], shown: str) -> None:
    statuses = [{"name": f"i{at}", "state": state} for at, state in enumerate(states)]
    init = [{"name": "i0"}, {"name": "i1"}]
    assert row({"phase": "Pending", "initContainerStatuses": statuses}, initContainers=init)[1] == shown


def test_a_deleted_pod_terminates_until_it_has_ended() -> None:
    assert row({"phase": "Running"}, deleted=True)[1] == "Terminating"
    assert row({"phase": "Succeeded"}, deleted=True)[1] == "Succeeded"
    assert row({"phase": "Running", "reason": "NodeLost"}, deleted=True)[1] == "Unknown"


def test_restarts_tell_when_the_last_one_was() -> None:
    again = {**RUNNING, "restartCount": 2, "lastState": {"terminated": {"finishedAt": STARTED}}}
    assert row({"phase": "Running", "containerStatuses": [again]})[2] == "2 (100s ago)"
    assert row({"phase": "Running", "containerStatuses": [{**RUNNING, "restartCount": 2}]})[2] == "2"


def test_readiness_gates_are_counted() -> None:
    gates = [{"conditionType": "a"}, {"conditionType": "b"}]
    status = {"phase": "Running", "conditions": [{"type": "a", "status": "True"}]}
    assert row(status, readinessGates=gates)[-1] == "1/2"
