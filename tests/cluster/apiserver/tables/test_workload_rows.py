"""Deployments, jobs and the other workloads in one line."""

from typing import Any

import pytest

from gpuyard_cluster.apiserver.tables import workload_rows

NOW = 1000.0
CREATED = "1970-01-01T00:15:00Z"
PODS = ["main", "app:1", "a=b,app=x"]


def workload(spec: dict[str, Any], status: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    template = {"spec": {"containers": [{"name": "main", "image": "app:1"}], "nodeSelector": {"zone": "z"}}}
    selector = {"matchLabels": {"app": "x", "a": "b"}}
    return {
        "metadata": {"name": "w", "creationTimestamp": CREATED, **metadata},
        "spec": {"template": template, "selector": selector, **spec},
        "status": status,
    }


def test_workloads_show_how_many_pods_are_wanted_and_ready() -> None:
    some = workload({"replicas": 2}, {"replicas": 2, "readyReplicas": 1, "updatedReplicas": 2})
    assert workload_rows.deployment(some, NOW) == ["1/2", 2, 0, "100s", *PODS]
    assert workload_rows.replica_set(some, NOW) == [2, 2, 1, "100s", *PODS]
    assert workload_rows.stateful_set(some, NOW) == ["1/2", "100s", *PODS[:2]]


def test_a_daemon_set_shows_its_nodes() -> None:
    some = workload({}, {"desiredNumberScheduled": 3, "numberReady": 2})
    assert workload_rows.daemon_set(some, NOW) == [3, 0, 2, 0, 0, "zone=z", "100s", *PODS]


def test_a_job_shows_how_far_it_is_and_how_long_it_takes() -> None:
    running = workload({"completions": 2}, {"succeeded": 1, "startTime": CREATED})
    assert workload_rows.job(running, NOW) == ["Running", "1/2", "100s", "100s", *PODS]
    done = workload({"completions": 1}, {"startTime": CREATED, "completionTime": "1970-01-01T00:15:05Z"})
    assert workload_rows.job(done, NOW)[2] == "5s"


@pytest.mark.parametrize(("spec", "shown"), [({"parallelism": 3}, "0/1 of 3"), ({}, "0/1")])
def test_a_job_without_completions_ends_with_its_first_success(spec: dict[str, Any], shown: str) -> None:
    assert workload_rows.job(workload(spec, {}), NOW)[1:3] == [shown, ""]


@pytest.mark.parametrize(
    ("conditions", "deleted", "state"),
    [
        (["SuccessCriteriaMet", "Complete"], False, "Complete"),
        (["FailureTarget"], False, "FailureTarget"),
        (["Failed"], True, "Failed"),
        (["FailureTarget"], True, "Terminating"),
        ([], False, "Running"),
    ],
)
def test_a_job_shows_its_state(conditions: list[str], deleted: bool, state: str) -> None:
    status = {"conditions": [{"type": kind, "status": "True"} for kind in conditions]}
    metadata = {"deletionTimestamp": CREATED} if deleted else {}
    assert workload_rows.job(workload({}, status, **metadata), NOW)[0] == state
