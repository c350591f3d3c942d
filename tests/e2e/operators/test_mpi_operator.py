"""Kubeflow's MPI operator, unmodified: the launcher, which asks for no GPU, starts with its workers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.operators.gangs import Place, has, leaves_nothing, play, runs_as_a_whole, waits_as_a_whole
from tests.e2e.operators.programs import Operator, Running, started

JOBS = "apis/kubeflow.org/v2beta1 mpijobs"
SAMPLE = "examples/v2beta1/tensorflow-benchmarks/tensorflow-benchmarks.yaml"
OPERATOR = Operator(
    "mpi-operator", "manifests/overlays/standalone", ("--gang-scheduling=scheduler-plugins-scheduler",)
)


@pytest.fixture(scope="module")
def running(operators: Path, kubeconfig: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with started(OPERATOR, operators, kubeconfig, tmp_path_factory.mktemp("mpi") / "log") as running:
        yield running


def test_launcher_and_workers_run_on_planned_devices_and_leave_nothing(running: Running) -> None:
    async def story(place: Place) -> None:
        name = await place.submit(JOBS, running.sample(SAMPLE))
        await runs_as_a_whole(place, name, members=3, gpus=2)
        await has(place, f"services/{name}", f"configmaps/{name}-config", f"secrets/{name}-ssh")
        assert (await place.group(name))["spec"]["minMember"] == 3
        await leaves_nothing(place, JOBS, name)

    play(running, "fits", story)


def test_a_job_that_is_too_large_waits_as_a_whole_with_its_launcher_and_says_why(running: Running) -> None:
    async def story(place: Place) -> None:
        job = running.sample(SAMPLE)
        job["spec"]["mpiReplicaSpecs"]["Worker"]["replicas"] = 7
        name = await place.submit(JOBS, job)
        message = await waits_as_a_whole(place, name, members=8)
        assert "all 8 members need 7 nvidia.com/gpu, all nodes have 4" in message
        await leaves_nothing(place, JOBS, name)

    play(running, "too-large", story)
