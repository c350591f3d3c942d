"""On steps, with Kubernetes' own controllers: what owners and people do to gangs that run."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from gpuyard import vocabulary
from gpuyard.writes import JSON, PatchType, Write
from gpuyard_cli.scenarios import requests
from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.requests import Request
from tests.e2e.storm import A100, Storm, container, pod, pod_group

NODES = {"nodes": [{"name": f"node-{number}", "gpus": {"model": A100, "count": 1}} for number in (1, 2, 3)]}
JOBS = "/apis/batch/v1/namespaces/default/jobs"
SIZE = 3


@pytest.fixture
def storm() -> Iterator[Storm]:
    with closing(Storm("", document=NODES)) as found:
        found.yard.settle()
        yield found


def job() -> JSON:
    members = pod("", [container("main", "nvidia.com/gpu", 1)], group="g")
    template = {"metadata": {"labels": members["metadata"]["labels"]}, "spec": members["spec"]}
    spec = {"parallelism": SIZE, "completions": SIZE, "template": template}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "job"}, "spec": spec}


def send(storm: Storm, method: str, path: str, body: JSON | None = None) -> None:
    patch = PatchType.MERGE if method == "PATCH" else None
    reply = storm.yard.clock.complete(storm.yard.api.send(Write(method, path, body, patch)))
    assert reply.ok, reply.reason


def phase(storm: Storm) -> str:
    [group] = storm.objects("podgroups")
    return str(group["status"]["phase"])


def phases(storm: Storm) -> list[str]:
    return [found["status"]["phase"] for found in storm.pods()]


@pytest.mark.parametrize("below", ["wait", "restart", "release"])
def test_a_job_that_is_suspended_holds_nothing_and_starts_as_a_whole_when_it_goes_on(
    storm: Storm, below: str
) -> None:
    group = pod_group("g", SIZE)
    group["metadata"]["annotations"] = {vocabulary.BELOW_MINIMUM: below}
    storm.create(group)
    send(storm, "POST", JOBS, job())
    list(storm.until(storm.now + 5))
    assert phases(storm) == ["Running"] * SIZE
    send(storm, "PATCH", f"{JOBS}/job", {"spec": {"suspend": True}})
    list(storm.until(storm.now + 30))
    assert (phases(storm), phase(storm), storm.objects("reservations")) == ([], "Pending", [])
    send(storm, "PATCH", f"{JOBS}/job", {"spec": {"suspend": False}})
    list(storm.until(storm.now + 5))
    assert (phases(storm), phase(storm)) == (["Running"] * SIZE, "Running")


@pytest.mark.parametrize("bound", [True, False])
def test_the_gpus_of_a_gang_are_anybodys_when_its_namespace_has_been_deleted(
    storm: Storm, bound: bool
) -> None:
    def refuse(request: Request) -> ApiError | None:
        hit = not bound and "/namespaces/blue/" in request.path and request.path.endswith("/binding")
        return ApiError(500, "InternalError", "no Binding now") if hit else None

    storm.yard.server.faults.append(refuse)
    send(storm, "POST", "/api/v1/namespaces", {"metadata": {"name": "blue"}})
    members = [
        pod(f"g-{number}", [container("main", "nvidia.com/gpu", 1)], group="g") for number in range(SIZE)
    ]
    for obj in (pod_group("g", SIZE), *members):
        obj["metadata"]["namespace"] = "blue"
        storm.yard.clock.complete(requests.create(storm.yard.api, obj))
    list(storm.until(storm.now + 2))
    assert bool(storm.objects("reservations")) is not bound
    send(storm, "DELETE", "/api/v1/namespaces/blue")
    list(storm.until(storm.now + 30))
    assert (storm.pods(), storm.objects("podgroups"), storm.objects("reservations")) == ([], [], [])
    for obj in (pod_group("g", SIZE), *members):
        obj["metadata"]["namespace"] = "default"
        storm.create(obj)
    list(storm.until(storm.now + 5))
    assert phases(storm) == ["Running"] * SIZE
