import pytest

from gpuyard.writes import JSON
from gpuyard_cluster.logs import LogLine
from tests.cluster.apiserver.calling import DEPLOYMENTS, PODS, Caller, deployment, pod


def printed(pod: JSON, container: str, _previous: bool) -> list[LogLine]:
    return [LogLine(0.0, f"{pod['metadata']['name']}/{container}")]


@pytest.fixture
def api() -> Caller:
    caller = Caller(logs=printed)
    caller.make(PODS, pod("a"))
    return caller


@pytest.mark.parametrize("name", ["attach", "ephemeralcontainers", "exec", "portforward", "proxy", "resize"])
def test_what_is_not_served_says_so(api: Caller, name: str) -> None:
    answer = api.post(f"{PODS}/a/{name}", {})
    assert (answer.status, answer.body["reason"]) == (501, "NotImplemented")
    assert f"pods/{name}" in answer.body["message"]


def test_wrong_verbs_and_unknown_names(api: Caller) -> None:
    assert api.post(f"{PODS}/a/status", {}).status == 405
    assert api.get(f"{PODS}/a/binding").status == 405
    assert api.post(f"{PODS}/a/log", {}).status == 405
    assert api.get(f"{PODS}/a/nonsense").status == 404
    assert api.get(f"{PODS}/none/status").status == 404


def test_logs_come_from_the_source_as_text(api: Caller) -> None:
    answer = api.get(f"{PODS}/a/log")
    assert (answer.status, answer.response.body) == (200, b"a/main\n")
    assert ("content-type", "text/plain") in answer.response.headers


def test_the_scale_is_read_and_written(api: Caller) -> None:
    api.make(DEPLOYMENTS, deployment("d"))
    scale = api.get(f"{DEPLOYMENTS}/d/scale").body
    assert (scale["kind"], scale["spec"]) == ("Scale", {"replicas": 2})
    assert scale["status"] == {"replicas": 0, "selector": "app=d"}
    assert api.put(f"{DEPLOYMENTS}/d/scale", scale | {"spec": {"replicas": 5}}).body["spec"] == {
        "replicas": 5
    }
    assert api.put(f"{DEPLOYMENTS}/d/scale", scale | {"spec": {"replicas": 6}}).status == 409
    assert api.patch(f"{DEPLOYMENTS}/d/scale", {"spec": {"replicas": 7}}).status == 200
    body = api.get(f"{DEPLOYMENTS}/d").body
    assert (body["spec"]["replicas"], body["metadata"]["generation"]) == (7, 3)
