"""Kubeflow's training operator, unmodified: its PyTorchJobs are gangs."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from gpuyard.writes import JSON, PatchType, Write
from tests.e2e.operators.gangs import Place, has, leaves_nothing, play, runs_as_a_whole, waits_as_a_whole
from tests.e2e.operators.programs import Operator, Running, Webhooks, started
from tests.e2e.stories.cluster import until

JOBS = "apis/kubeflow.org/v1 pytorchjobs"
SAMPLE = "examples/pytorch/mnist/v1/pytorch_job_mnist_gloo.yaml"
NAME = "pytorch-dist-mnist-gloo"
OPERATOR = Operator(
    "training-operator",
    "manifests/overlays/standalone",
    (
        "--gang-scheduler-name=scheduler-plugins-scheduler",
        "--metrics-bind-address=0",
        "--health-probe-bind-address=0",
    ),
    Webhooks(
        "kubeflow",
        "training-operator",
        "training-operator-webhook-cert",
        # The program's own constant.
        Path("/tmp/k8s-webhook-server/serving-certs"),
    ),
)


@pytest.fixture(scope="module")
def running(operators: Path, kubeconfig: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with started(OPERATOR, operators, kubeconfig, tmp_path_factory.mktemp("training") / "log") as running:
        yield running


async def submit(place: Place, job: JSON) -> str:
    """Its name, once the operator has made its pods.

    v1.8.1 looks again, when it does not know the PodGroup yet that it has just made, because it then writes the time
    into the job's status: in seconds, so that a second such look within one is the last. Each change makes it look.
    """
    name = await place.submit(JOBS, job)
    path, looks = f"{place.within(*JOBS.split())}/{name}", count()

    async def has_pods() -> bool:
        if await place.members(name):
            return True
        change = {"metadata": {"annotations": {"looks": str(next(looks))}}}
        await place.api.send(Write("PATCH", path, change, PatchType.MERGE))
        return False

    await until(has_pods, lambda: f"the job has pods\n{place.running.told()}")
    return name


def test_master_and_worker_run_on_planned_devices_and_leave_nothing(running: Running) -> None:
    async def story(place: Place) -> None:
        name = await submit(place, running.sample(SAMPLE))
        await runs_as_a_whole(place, name, members=2, gpus=2)
        await has(place, f"services/{name}-master-0", f"services/{name}-worker-0")
        group = await place.group(name)
        assert group["spec"] == {"minMember": 2, "minResources": {"nvidia.com/gpu": "2"}}
        await leaves_nothing(place, JOBS, name)

    play(running, "fits", story)


def test_a_job_that_is_too_large_waits_as_a_whole_and_says_why(running: Running) -> None:
    async def story(place: Place) -> None:
        job = running.sample(SAMPLE)
        job["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"] = 7
        message = await waits_as_a_whole(place, await submit(place, job), members=8)
        assert "all 8 members need 8 nvidia.com/gpu, all nodes have 4" in message
        await leaves_nothing(place, JOBS, NAME)

    play(running, "too-large", story)


def test_a_job_that_its_webhook_refuses_is_refused(running: Running) -> None:
    async def story(place: Place) -> None:
        job = running.sample(SAMPLE)
        job["spec"]["pytorchReplicaSpecs"]["Master"]["replicas"] = 2
        assert "spec.pytorchReplicaSpecs[Master].replicas" in await place.refused(JOBS, job)

    play(running, "refused", story)
